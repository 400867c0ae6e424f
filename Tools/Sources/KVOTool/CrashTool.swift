// kvo crash: runs the scenarios of the crash catalogue, each in a process of its own. scripts/crashes.py checks them all.
import ArgumentParser
import CCrashScenarios
import CrashScenarios
import Foundation

package struct CrashTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Runs a scenario of the crash catalogue in a child process, and shows the real report.",
    discussion: """
      A scenario is a row of the catalogue: K27 in Swift; K27c in C, where the report is another one. Below the report the tool \
      prints how the process ended. Swift's backtrace is not written unless SWIFT_BACKTRACE is set.
      """)

  @Argument(help: "The scenario, such as K27 or K27c.")
  var id: String?

  @Flag(help: "List the scenarios with the codes of their faults.")
  var list = false

  /// Run it in this process, which ends as the scenario does.
  @Flag(help: .hidden)
  var here = false

  /// Run all that can in this process, with a handler that goes on.
  @Flag(help: .hidden)
  var record = false

  /// Print all as lines of JSON.
  @Flag(help: .hidden)
  var scenarios = false

  package init() {}

  package func validate() throws {
    if [id != nil, list, record, scenarios].count(where: { $0 }) != 1 {
      throw ValidationError("Specify a scenario or --list.")
    }
    if let id, Scenarios.named(id) == nil {
      throw ValidationError("There is no scenario \(id); --list prints all.")
    }
  }

  package func run() throws {
    if let id, let scenario = Scenarios.named(id) {
      if here { kvo_crash_perform(scenario) }
      try show(scenario.pointee)
    } else if list {
      let rows = Scenarios.all.map { [$0.pointee.name, $0.pointee.title, String(cString: $0.pointee.codes)] }
      print(Columns.text(["Scenario", "Title", "Codes"], rows, numbers: []))
    } else {
      for scenario in Scenarios.all { record ? kvo_crash_record(scenario) : kvo_crash_print(scenario) }
    }
  }

  private func show(_ scenario: Scenario) throws {
    print("\(scenario.name): \(scenario.title)")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["crash", "--here", scenario.name]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"].merging(ProcessInfo.processInfo.environment) { $1 }
      .merging(scenario.variables) { $1 }
    fflush(nil)  // before what the process writes
    try process.run()
    process.waitUntilExit()
    let status = process.terminationStatus
    let signal = status == SIGABRT ? "SIGABRT" : "signal \(status)"
    print("\(scenario.name) ended with \(process.terminationReason == .exit ? "status \(status)" : signal)")
  }
}
