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
      continues. Each file starts with no objects. A file may also be the output of a run, whose commands are run again.
      """)

  @Argument(help: ArgumentHelp("Files to run; - is standard input.", valueName: "file"))
  var files: [String]

  package init() {}

  package func run() throws {
    for file in files {
      let scenario = try read(file)
      let runner = ScenarioRunner { line in
        do {
          try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        } catch {
          complain("cannot write: \(error.localizedDescription)")
          Glibc.exit(73)  // EX_CANTCREAT
        }
      }
      runner.run(scenario)
    }
  }

  /// EX_NOINPUT of sysexits.h; ArgumentParser uses EX_USAGE of the same header.
  private static let noInput = ExitCode(66)

  private func read(_ file: String) throws -> String {
    let reason: String
    if let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file) {
      do { return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) } catch {
        reason = error.localizedDescription
      }
    } else {
      reason = String(cString: strerror(errno))
    }
    complain("cannot read \(file): \(reason)")
    throw Self.noInput
  }

  private func complain(_ problem: String) {
    try? FileHandle.standardError.write(contentsOf: Data("kvo: \(problem)\n".utf8))
  }
}
