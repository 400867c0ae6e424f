// kvo faults: the list of all faults comes from the runtime.
import Foundation
import KVOTool
import Testing

@Suite("kvo faults")
struct FaultListTests {
  private func output(_ arguments: String...) throws -> String {
    let command = try #require(KVOTool.parseAsRoot(["faults"] + arguments) as? FaultsTool)
    return try command.output()
  }

  @Test func `The table has a line for each fault, with severity, meaning and Apple's exception`() throws {
    let lines = try output().split(separator: "\n")
    #expect(lines.count == FaultKind.all.count + 1)
    let line = try #require(lines.first { $0.hasPrefix("KVO0002") })
    #expect(
      line.split(separator: "  ", omittingEmptySubsequences: true).map { $0.trimmingCharacters(in: .whitespaces) }
        == ["KVO0002", "fatal", "removal of an observer that is not registered", "NSRangeException"])
    #expect(lines.contains { $0.hasPrefix("KVO0015") && $0.hasSuffix("-") })
  }

  @Test func `The list in JSON says the same, with null where Apple raises nothing`() throws {
    let list = try #require(
      JSONSerialization.jsonObject(with: Data(output("--json").utf8)) as? [[String: Any]])
    #expect(list.count == FaultKind.all.count)
    let stale = try #require(list.first { $0["code"] as? String == "KVO0005" })
    #expect(stale["severity"] as? String == "fatal")
    #expect(stale["exception"] is NSNull)
    #expect(stale["meaning"] as? String == FaultKind.all.first { $0.number == 5 }?.meaning)
  }
}
