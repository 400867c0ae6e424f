// kvo scenario: runs files of scenarios.
import ArgumentParser
import Foundation

package struct ScenarioTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Runs scenarios and prints the notifications that observers receive.",
    discussion: """
      A scenario is a text of commands, one per line, that create objects, observe, change and release them. Misuse is printed \
      as the exception that Apple raises for it; a line that is wrong is printed with a question mark. In both cases the run \
      continues. Each file starts with no objects.
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

  /// EX_NOINPUT of sysexits.h; ArgumentParser uses EX_USAGE of the same header.
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
