// Every scenario in the folder Scenarios, compared with its expected answer.
import Foundation
import ScenarioLanguage
import Testing

@Suite("Scenarios")
struct ScenarioTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Scenarios")

  static let names: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".scenario") }.map { String($0.dropLast(9)) }.sorted()
  }()

  @Test func `There are scenarios, and each has an expected answer`() throws {
    let files = Set(try FileManager.default.contentsOfDirectory(atPath: Self.folder.path))
    #expect(Self.names.count > 25)
    #expect(files == Set(Self.names.flatMap { [$0 + ".scenario", $0 + ".out"] }))
  }

  @Test(arguments: names) func `A scenario gives its expected answer`(name: String) throws {
    let scenario = try String(contentsOf: Self.folder.appendingPathComponent(name + ".scenario"), encoding: .utf8)
    let expected = try String(contentsOf: Self.folder.appendingPathComponent(name + ".out"), encoding: .utf8)
    var answer: [String] = []
    ScenarioRunner { answer.append($0) }.run(scenario)
    let difference = difference(expected.split(separator: "\n").map(String.init), answer)
    #expect(difference.isEmpty, Comment(rawValue: "\(name), - expected, + printed:\n" + difference))
  }
}
