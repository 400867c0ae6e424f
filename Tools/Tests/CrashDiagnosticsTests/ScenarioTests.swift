// The crash catalogue, in three ways: in this process with a handler that ignores faults, in a separate process with the default action,
// and by comparing the whole report with the golden one.
import CCrashScenarios
import CKVO
import CrashScenarios
import Foundation
import Testing

/// A scenario as a test argument.
private struct Row: CustomTestStringConvertible, Sendable {
  nonisolated(unsafe) let scenario: UnsafePointer<Scenario>
  var testDescription: String { "\(scenario.pointee.name), \(scenario.pointee.title)" }

  static let all = Scenarios.all.map { Row(scenario: $0) }
  /// Without those about observations that have ended: they are remembered for a limited time, and other tests end thousands.
  static let recordable = all.filter { kvo_crash_can_record($0.scenario) && ![3, 5].contains($0.code) }

  /// The scenarios with golden reports: the first of each code.
  static let golden: [Row] = {
    var rows: [Int: Row] = [:]
    for row in all where row.scenario.pointee.flags & UInt32(KVO_CRASH_GOLDEN) != 0 {
      if rows[row.code] == nil { rows[row.code] = row }
    }
    return rows.sorted { $0.key < $1.key }.map(\.value)
  }()

  /// The first code that the scenario expects.
  var code: Int { Int(String(cString: scenario.pointee.codes).prefix { $0.isNumber }) ?? 0 }

  /// The program `kvo`, which is built into the same folder as this one.
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("kvo").path

  /// Runs the scenario in a separate process with the default policy.
  func run() -> Verdict { ScenarioProcess.run(scenario, program: Self.program) }
}

@Suite("The crash catalogue, in this process, with a handler that ignores faults", .serialized)
struct RecordedScenarioTests {
  @Test(arguments: Row.recordable)
  fileprivate func `All faults are raised in order, and memory stays intact`(row: Row) {
    #expect(ScenarioProcess.record(row.scenario).reason == "")
  }
}

@Suite("The crash catalogue")
struct ScenarioTests {
  @Test(arguments: Row.all)
  fileprivate func `In a separate process: its end, the code in the first line, and the misuse's lines`(row: Row) {
    let verdict = row.run()
    #expect(verdict.reason == "", "\(verdict.report)")
    #expect(verdict.report.isEmpty || row.firstLineIsReadable(in: verdict), "\(verdict.report)")
  }

  @Test(arguments: Row.golden)
  fileprivate func `The whole report equals the golden one, which scripts/bless-reports.sh updates`(row: Row) throws {
    let name = String(format: "KVO%04d.txt", row.code)
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden/\(name)")
    let report = row.run().normalisedReport
    if ProcessInfo.processInfo.environment["KVO_BLESS_REPORTS"] != nil {
      try Data(report.utf8).write(to: file)
      return
    }
    let kept = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
    #expect(
      report == kept, "\(row.testDescription): lines that are gone (-) or new (+)\n\(changes(from: kept, to: report))"
    )
  }

  @Test func `Every code has a scenario, and every scenario a row`() {
    var codes: Set<Int> = []
    for row in Row.all {
      #expect(kvo_crash_row_of(row.scenario.pointee.id) != nil)
      for code in 1...99 where kvo_crash_expects(row.scenario, Int32(code)) { codes.insert(code) }
    }
    var known: Set<Int> = []
    while let kind = kvo_fault_kind_at(known.count) { known.insert(Int(kind.pointee.code.rawValue)) }
    #expect(codes == known, "missing: \(known.subtracting(codes)), unknown: \(codes.subtracting(known))")
    #expect(Set(Row.golden.map(\.code)) == known)
  }

  @Test func `Every row has a scenario, except that of an unloaded library, which nothing can detect`() {
    var count = 0
    let rows = kvo_crash_rows(&count)
    let numbers = (0..<count).map { String(cString: rows[$0].number) }
    #expect(numbers.filter { Scenarios.named($0) == nil } == ["K56"])
  }
}

extension Row {
  /// Checks the first line for readers who see nothing else: it has a source location if the report knows one.
  fileprivate func firstLineIsReadable(in verdict: Verdict) -> Bool {
    if scenario.pointee.codes.pointee == 0 { return true }
    let first = verdict.report.prefix { $0 != "\n" }
    if first.hasPrefix("{\"schema\":1,\"code\":\"KVO") { return true }
    // A fault about the environment has no source location.
    let hasPlace = first.hasPrefix("KVO0034") || !verdict.report.contains(/at \S+\.(swift|c):[0-9]+/)
    return first.wholeMatch(of: /KVO[0-9]{4} [a-z]+: .+/) != nil && (hasPlace || first.contains(/\.(swift|c):[0-9]+/))
  }
}

/// Returns the lines of each text that the other does not have, in order.
private func changes(from kept: String, to report: String) -> String {
  let (old, new) = (kept.split(separator: "\n"), report.split(separator: "\n"))
  return new.difference(from: old).map { change in
    switch change {
    case .remove(_, let line, _): "- \(line)"
    case .insert(_, let line, _): "+ \(line)"
    }
  }.joined(separator: "\n")
}
