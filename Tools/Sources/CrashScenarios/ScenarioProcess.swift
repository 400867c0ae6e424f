// Runs scenarios in separate processes or in this one.
package import CCrashScenarios

/// The result of a scenario.
package struct Verdict: Sendable {
  package let passed: Bool
  /// The reason if it did not pass.
  package let reason: String
  /// How it ended: `SIGABRT`, `exit 0`, `time limit`, or `handled` in this process.
  package let ended: String
  package let codes: [Int]
  /// The output of the process to standard error.
  package let report: String

  init(_ result: kvo_crash_result) {
    passed = result.passed
    reason = withUnsafeBytes(of: result.reason) { String(cString: $0.bindMemory(to: CChar.self).baseAddress!) }
    ended = withUnsafeBytes(of: result.ended) { String(cString: $0.bindMemory(to: CChar.self).baseAddress!) }
    codes = withUnsafeBytes(of: result.codes) {
      $0.bindMemory(to: Int32.self).prefix(result.code_count).map(Int.init)
    }
    report = result.report.map { String(cString: $0) } ?? ""
  }

  /// The report without the parts that differ from run to run.
  package var normalisedReport: String {
    let text = kvo_crash_normalise(report)
    defer { text.deallocate() }
    return String(cString: text)
  }
}

package enum ScenarioProcess {
  /// Calls `body` with the command that runs a scenario in a separate process: `kvo crash --here`.
  package static func withCommand<Result>(
    program: String = "/proc/self/exe", backtrace: Bool = false,
    _ body: (UnsafePointer<kvo_crash_command>) -> Result
  ) -> Result {
    program.withCString { program in
      let words: [StaticString] = ["kvo", "crash", "--here"]
      let arguments = words.map { Optional(UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)) }
      return (arguments + [nil]).withUnsafeBufferPointer { arguments in
        var command = kvo_crash_command(program: program, arguments: arguments.baseAddress!, backtrace: backtrace)
        return body(&command)
      }
    }
  }

  /// Runs a scenario in a child process of the program `kvo`.
  package static func run(_ scenario: UnsafePointer<Scenario>, program: String) -> Verdict {
    withCommand(program: program) { command in
      var result = kvo_crash_result()
      kvo_crash_run(scenario, command, &result)
      defer { kvo_crash_result_free(&result) }
      return Verdict(result)
    }
  }

  /// Runs a scenario on this thread, with a handler that records its faults and ignores them; one at a time.
  package static func record(_ scenario: UnsafePointer<Scenario>) -> Verdict {
    var result = kvo_crash_result()
    kvo_crash_record(scenario, &result)
    return Verdict(result)
  }
}
