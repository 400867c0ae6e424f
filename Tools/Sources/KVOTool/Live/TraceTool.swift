// kvo trace: a trace of the next seconds of a running program.
import ArgumentParser
import Foundation

package struct TraceTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "trace", abstract: "Records what a running program sets, and which observers that calls.",
    discussion: "The file is a Chrome trace. Open it with https://ui.perfetto.dev or chrome://tracing.")

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
    guard seconds >= 0.001, seconds <= 86400 else {
      throw ValidationError("A trace takes from 0.001 to 86400 seconds.")
    }
  }

  private struct Recorded: Decodable {
    let recorded: Double
    let endedBy: String
  }

  package func run() throws {
    let connection = try program.ask("trace \(Int((seconds * 1000).rounded()))")
    guard let line = try connection.line(within: seconds + 10) else { return }
    let recorded = try JSONDecoder().decode(Recorded.self, from: line)
    let trace = try connection.content(within: 10)
    let file = output ?? "trace-\(connection.hello.pid).json"
    try OutputFile.write(trace, to: file)
    let why =
      switch recorded.endedBy {
      case "size": "; it ended because of its size"
      case "program": "; the program has ended it, with kvo_trace_end"
      default: ""
      }
    let said =
      "\(connection.hello.program) (process \(connection.hello.pid)): \(Columns.short(recorded.recorded)) s, "
      + "\(trace.count) bytes\(file == "-" ? "" : " in \(file)")\(why)\n"
    FileHandle.standardError.write(Data(said.utf8))
  }
}
