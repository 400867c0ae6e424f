// kvo graph: the graph of all observations of a running program.
import ArgumentParser
import Foundation

package struct GraphTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Prints the graph of all observations of a running program.",
    discussion: "For example: kvo graph 1234 | dot -Tsvg >graph.svg")

  enum Form: String, EnumerableFlag {
    case dot, mermaid, json

    static func help(for value: Form) -> ArgumentHelp? {
      switch value {
      case .dot: "The DOT language of Graphviz."
      case .mermaid: "A Mermaid flowchart, as Markdown documents show it."
      case .json: "JSON."
      }
    }
  }

  @Argument(help: RunningProgram.help)
  var program: RunningProgram

  @Flag(exclusivity: .exclusive)
  var form: Form = .dot

  @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file instead.", valueName: "file"))
  var output: String?

  package init() {}

  package func validate() throws { try program.validate() }

  package func run() throws {
    try OutputFile.check(output)
    try OutputFile.write(try graph(), to: output)
  }

  package func graph() throws -> Data {
    try program.ask("graph \(form.rawValue)").content(within: 60)
  }
}
