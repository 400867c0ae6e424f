// kvo view: makes an HTML page of a trace and a graph.
import ArgumentParser
import Foundation
import KeyValueObserving

package struct ViewTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "view",
    abstract: "Makes a page of a trace, a graph, or both: who sets what, who is notified, and what multiplies.",
    discussion: """
      The files are those of ObservationTrace or kvo_trace_begin, and the JSON of ObservationGraph or kvo_graph_format. The page is one \
      HTML file that needs no network. Source lines of sets come from the debug information of the program, by llvm-symbolizer, if the \
      program was not built again since: its build-id is compared.
      """)

  @Argument(help: ArgumentHelp("A trace, a graph, or both in any order.", valueName: "file"))
  var files: [String]

  @Option(name: .shortAndLong, help: "The page to write; - is standard output.")
  var output = "view.html"

  @Flag(help: "Open the page in the browser.")
  var open = false

  package init() {}

  package func validate() throws {
    if files.isEmpty || files.count > 2 { throw ValidationError("Specify a trace, a graph, or one of each.") }
    if open, output == "-" { throw ValidationError("--open needs a file: --output cannot be standard output.") }
  }

  package func run() throws {
    do {
      try OutputFile.check(output, inputs: files)
    } catch {
      throw complain(error, status: 73)
    }
    let page: String
    do {
      page = try html()
    } catch let failure as ViewFailure {
      throw complain(failure, status: 65)
    }
    do {
      try OutputFile.write(Data(page.utf8), to: output)
    } catch {
      throw complain(error, status: 73)
    }
    if output != "-" { print(output) }
    if open { try show() }
  }

  private func complain(_ error: any Error, status: Int32) -> ExitCode {
    FileHandle.standardError.write(Data("kvo view: \(error)\n".utf8))
    return ExitCode(status)
  }

  /// The text of the page.
  package func html() throws -> String {
    var graph: ObservationGraph?
    var trace: Trace?
    for file in files {
      let data = try InputFile.read(file)
      if data.allSatisfy({ $0 <= 32 }) { throw ViewFailure(description: "\(file) is empty") }
      if Self.isGraph(data) {
        if graph != nil { throw ViewFailure(description: "\(file) is a second graph; specify a trace and a graph") }
        graph = try Self.graph(data, name: file)
      } else {
        if trace != nil { throw ViewFailure(description: "\(file) is a second trace; specify a trace and a graph") }
        trace = Trace(try TraceFile(data, name: file))
      }
    }
    let lines = trace.map { SourceLines(of: $0) }
    let picture = Picture(trace: trace, graph: graph, lines: lines)
    let findings = trace.map { Findings(of: $0, picture, lines!) } ?? Findings()
    let title = files.map { URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", ")
    return try ViewPage.html(ViewData(title: title, trace: trace, picture: picture, findings: findings, lines: lines))
  }

  /// A graph is an object with the member "schema".
  private static func isGraph(_ data: Data) -> Bool {
    struct Probe: Decodable { var schema: Int }
    return data.first == UInt8(ascii: "{") && (try? JSONDecoder().decode(Probe.self, from: data)) != nil
  }

  private static func graph(_ data: Data, name: String) throws -> ObservationGraph {
    do {
      let graph = try JSONDecoder().decode(ObservationGraph.self, from: data)
      let objects = graph.objects.indices
      guard
        graph.observations.allSatisfy({
          objects.contains($0.object) && $0.observerObject.map(objects.contains) != false
        }),
        graph.edges.allSatisfy({ objects.contains($0.object) && graph.observations.indices.contains($0.observation) })
      else {
        throw ViewFailure(description: "\(name) is a graph whose observations name objects that it does not have")
      }
      return graph
    } catch let error as DecodingError {
      throw ViewFailure(description: "\(name) is no graph: \(TraceFile.reason(error))")
    }
  }

  private func show() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["xdg-open", output]
    try? process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      FileHandle.standardError.write(Data("kvo view: xdg-open cannot open \(output); open it in a browser\n".utf8))
      throw ExitCode.failure
    }
  }
}
