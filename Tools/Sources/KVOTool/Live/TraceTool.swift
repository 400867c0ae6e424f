// kvo trace: a trace of the next seconds of a running program.
import ArgumentParser
import Foundation

package struct TraceTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "trace", abstract: "Records what a running program sets, and which observers that calls.",
    discussion: """
      The file is a Chrome trace. Open it with https://ui.perfetto.dev or chrome://tracing. Ctrl-C ends the recording early, and what was \
      recorded is written; also if the program ends meanwhile.
      """)

  @Argument(help: RunningProgram.help)
  var program: RunningProgram

  @Option(help: "How long to record.")
  var seconds = 5.0

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write; - is standard output. (default: trace-PID.json)", valueName: "file"))
  var output: String?

  package init() {}

  package func validate() throws {
    try program.validate()
    guard seconds >= 0.001, seconds <= 86400 else {
      throw ValidationError("A trace takes from 0.001 to 86400 seconds.")
    }
  }

  private struct Recorded: Decodable {
    let recorded: Double
    let endedBy: String
  }

  package func run() throws {
    let file = try output ?? "trace-\(program.ask("hello").hello.pid).json"
    try OutputFile.check(file)
    let connection = try program.ask("trace \(Int((seconds * 1000).rounded()))")
    connection.interruption = Interruption()
    let recording = Recording(of: connection)
    do {
      guard let line = try connection.line(within: seconds + 10) else { return }
      let recorded = try JSONDecoder().decode(Recorded.self, from: line)
      let trace = try connection.content(within: 10)
      try write(trace, of: connection, to: file, recorded.recorded, Self.why(recorded.endedBy))
    } catch let error as LiveError where ["interrupted", "ended", "silent"].contains(error.code) {
      let seconds = recording?.seconds ?? 0
      let trace = recording?.end(connection) ?? Data()
      if trace.isEmpty {
        throw LiveError(error.code, "\(error.description)\nNothing of the trace has arrived, and no file is written.")
      }
      let why =
        switch error.code {
        case "interrupted": "interrupted"
        case "ended": "the process has ended: the trace is cut off there, and its last events may be missing"
        default: "the process does not answer: what it had recorded is written"
        }
      try write(trace, of: connection, to: file, seconds, why)
    }
  }

  private static func why(_ endedBy: String) -> String? {
    switch endedBy {
    case "size": "it ended because of its size"
    case "program": "the program has ended it, with kvo_trace_end"
    default: nil
    }
  }

  private func write(
    _ trace: Data, of connection: Connection, to file: String, _ seconds: Double, _ why: String?
  ) throws {
    connection.interruption = nil
    try OutputFile.write(trace, to: file)
    let said =
      "\(Columns.clean(connection.hello.program)) (process \(connection.hello.pid)): \(Columns.short(seconds)) s, "
      + "\(trace.count) bytes\(file == "-" ? "" : " in \(file)")\(why.map { "; " + $0 } ?? "")\n"
    FileHandle.standardError.write(Data(said.utf8))
  }
}
