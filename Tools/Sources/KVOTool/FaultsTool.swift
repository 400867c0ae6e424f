// kvo faults: the list of all faults.
import ArgumentParser
import Foundation

package struct FaultsTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "faults",
    abstract: "Lists all faults: code, severity, meaning, and the exception that Apple raises.",
    discussion: """
      By default a fatal fault ends the process; an error and a warning are reported, and the process continues; an info is \
      not reported. The environment variable KVO_POLICY changes that.
      """)

  @Flag(help: "Print the list as a JSON array.")
  var json = false

  package init() {}

  package func run() throws { print(try output()) }

  package func output() throws -> String {
    guard json else { return Self.table(FaultKind.all) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(FaultKind.all), as: UTF8.self)
  }

  private static func table(_ kinds: [FaultKind]) -> String {
    let rows =
      [["Code", "Severity", "Meaning", "Apple raises"]]
      + kinds.map { [$0.code, $0.severity, $0.meaning, $0.exception ?? "-"] }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max()! }
    return rows.map { row in
      zip(row, widths).map { cell, width in cell.padding(toLength: width, withPad: " ", startingAt: 0) }
        .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }.joined(separator: "\n")
  }
}
