// kvo faults: the list of all faults.
import ArgumentParser

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
    guard json else {
      let rows = FaultKind.all.map { [$0.code, $0.severity, $0.meaning, $0.exception ?? "-"] }
      return Columns.text(["Code", "Severity", "Meaning", "Apple raises"], rows, numbers: [])
    }
    return try Columns.json(FaultKind.all, [.prettyPrinted])
  }
}
