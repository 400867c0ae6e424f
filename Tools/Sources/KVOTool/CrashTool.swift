// kvo crash: runs the scenarios of the crash catalogue, each in a process of its own.
import ArgumentParser
import CCrashScenarios
import CrashScenarios

package struct CrashTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Runs a scenario of the crash catalogue in a child process, and shows the real report.",
    discussion: """
      A scenario is a row of the catalogue: K27 in Swift; K27c in C, where the report is another one. Below the report the \
      tool prints how the process ended, and whether that was expected. The exit status is 1 if it was not.
      """)

  enum Language: String, ExpressibleByArgument, CaseIterable {
    case swift, c
  }

  @Argument(help: "The scenario, such as K27 or K27c.")
  var id: String?

  @Flag(help: "List the scenarios with their expected results.")
  var list = false

  @Flag(help: "Run all scenarios, two at a time.")
  var all = false

  @Flag(help: "With --all: print a line of JSON for each scenario.")
  var json = false

  @Option(help: ArgumentHelp("Only scenarios in this language.", valueName: "swift|c"))
  var language: Language?

  @Flag(help: "Have Swift write its backtrace below the report.")
  var backtrace = false

  @Flag(help: .hidden)
  var here = false

  package init() {}

  package func validate() throws {
    if [id != nil, list, all].count(where: { $0 }) != 1 {
      throw ValidationError("Specify a scenario, --list or --all.")
    }
    if let id, Scenarios.named(id) == nil {
      throw ValidationError("There is no scenario \(id); --list prints all.")
    }
  }

  package func run() throws {
    if let id, let scenario = Scenarios.named(id) {
      if here { kvo_crash_perform(scenario) }
      let passed = ScenarioProcess.withCommand(backtrace: backtrace) { kvo_crash_show(scenario, $0) }
      if !passed { throw ExitCode.failure }
      return
    }
    let scenarios = language.map { $0 == .c ? Scenarios.c : Scenarios.swift } ?? Scenarios.all
    let failures = ScenarioProcess.withCommand(backtrace: backtrace) { command in
      scenarios.withUnsafeBufferPointer { scenarios in
        scenarios.withMemoryRebound(to: UnsafePointer<Scenario>.self) { scenarios in
          var chosen = kvo_crash_list(
            scenarios: scenarios.baseAddress!, count: scenarios.count, command: command, json: json)
          if list {
            kvo_crash_print_list(&chosen)
            return 0
          }
          return kvo_crash_run_all(&chosen)
        }
      }
    }
    if failures > 0 { throw ExitCode.failure }
  }
}
