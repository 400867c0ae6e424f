// kvo scenario: runs files of scenarios.
import ArgumentParser
import Foundation

package struct ScenarioTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Runs scenarios, and prints what observers are told.",
    discussion: """
      A scenario is a text of commands, one a line, that build objects, observe, change and free them. Misuse is printed \
      as the exception that Apple raises for it; a line that is wrong is printed with a question mark; both times the run \
      goes on. Each file begins anew.
      """)

  @Argument(help: ArgumentHelp("Files to run; - is standard input.", valueName: "file"))
  var files: [String]

  package init() {}

  package func run() throws {
    for file in files {
      let scenario = try read(file)
      let runner = ScenarioRunner { FileHandle.standardOutput.write(Data(($0 + "\n").utf8)) }
      runner.run(scenario)
    }
  }

  /// EX_NOINPUT of sysexits.h, as ArgumentParser uses EX_USAGE.
  private static let noInput = ExitCode(66)

  private func read(_ file: String) throws -> String {
    do {
      let data =
        file == "-"
        ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(fileURLWithPath: file))
      return String(decoding: data, as: UTF8.self)
    } catch {
      FileHandle.standardError.write(Data("kvo: cannot read \(file): \(error.localizedDescription)\n".utf8))
      throw Self.noInput
    }
  }
}
