// Every scenario in the folder Scenarios: a file has the commands, each with the answers that are expected. `kvo scenario FILE` runs it
// again.
import Foundation
import ScenarioLanguage
import Testing

@Suite("Scenarios")
struct ScenarioTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scenarios")
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()

  @Test func `There are scenarios`() { #expect(Self.names.count > 20) }

  @Test(arguments: names) func `A scenario gives its expected answers`(name: String) throws {
    let scenario = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
    let expected = scenario.split(separator: "\n").map(String.init)
    let difference = difference(expected, answers(to: scenario))
    #expect(difference.isEmpty, "\(name), - expected, + printed:\n\(difference)")
  }
}

/// Returns the lines that a scenario prints.
func answers(to scenario: String) -> [String] {
  var printed: [String] = []
  ScenarioRunner { printed.append($0) }.run(scenario)
  return printed
}

/// Returns the lines that differ, with their numbers; empty if none do.
func difference(_ expected: [String], _ printed: [String]) -> String {
  let changes = printed.difference(from: expected).map { change in
    switch change {
    case .remove(let offset, let line, _): (offset, "- \(offset + 1): \(line)")
    case .insert(let offset, let line, _): (offset, "+ \(offset + 1): \(line)")
    }
  }
  return changes.sorted { $0.0 < $1.0 }.map(\.1).joined(separator: "\n")
}
