// kvo symbolize: source lines of the calls in reports.
import CKVO
import Foundation
import KVOTool
import KeyValueObserving
import Testing

@Suite("kvo symbolize")
struct SymbolizeTests {
  /// Returns a report of a fault in this file, as text and as JSON, and the line of the call.
  private func fault() -> (text: String, json: String, line: Int) {
    nonisolated(unsafe) var fault: KeyValueFault?
    KeyValueFault.withHandler {
      fault = $0
      return .ignore
    } in: {
      _ = kvo_remove_observer(0x7)
    }
    return (fault!.report, fault!.json, #line - 2)
  }

  private func output(_ log: String, _ arguments: String...) throws -> (text: String, missing: [String]) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UUID().uuidString).txt")
    defer { try? FileManager.default.removeItem(at: file) }
    try log.write(to: file, atomically: true, encoding: .utf8)
    let command = try #require(KVOTool.parseAsRoot(["symbolize", file.path] + arguments) as? SymbolizeTool)
    return try command.output()
  }

  @Test func `The stack of a report gets the lines of the source, and the rest of a log stays`() throws {
    let fault = fault()
    let (text, missing) = try output("before\n\(fault.text)after\n")
    #expect(text.contains("  SymbolizeTests.swift:\(fault.line)\n"), "\(text)")
    #expect(text.hasPrefix("before\nKVO0008 ") && text.hasSuffix("\nafter\n"))
    #expect(missing.filter { $0.hasPrefix("ToolsPackageTests") } == [])
  }

  @Test func `A call in JSON gets a line`() throws {
    let fault = fault()
    let text = try output(fault.json).text
    #expect(text.contains("\"line\":\"SymbolizeTests.swift:\(fault.line)\""), "\(text)")
    #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
  }

  @Test func `A file with another build-id is not used, and the tool says which one is missing`() throws {
    let fault = fault()
    let other = fault.text.replacing(#/build-id [0-9a-f]{8}/#, with: "build-id 00000000")
    let (text, missing) = try output(other)
    #expect(text == other)
    #expect(missing.contains { $0.contains("no file with build-id 00000000") }, "\(missing)")
  }

  @Test func `Elsewhere the files are named`() throws {
    let fault = fault()
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let moved = fault.text.replacing(program.deletingLastPathComponent().path, with: "/gone")
    #expect(try output(moved).text == moved)
    let line = "SymbolizeTests.swift:\(fault.line)"
    #expect(try output(moved, "--binary", program.path).text.contains(line))
    #expect(try output(moved, "--binary", program.deletingLastPathComponent().path).text.contains(line))
  }

  @Test func `A log of a terminal, whose lines end with a carriage return too, gets the lines`() throws {
    let fault = fault()
    #expect(try output(fault.text.replacing("\n", with: "\r\n")).text == output(fault.text).text)
  }

  @Test func `What is no report is printed as it is`() throws {
    #expect(try output("a+0x10\n\nb").text == "a+0x10\n\nb")
    #expect(try output("").text == "")
  }
}
