// kvo explain: prints the pages of Documentation/Faults.
import Foundation
import KVOTool
import Testing

@Suite("kvo explain")
struct ExplainTests {
  private func output(_ arguments: String...) throws -> String {
    let command = try #require(KVOTool.parseAsRoot(["explain"] + arguments) as? ExplainTool)
    return try command.output()
  }

  private func error(_ arguments: String...) throws -> String {
    let error = try #require(#expect(throws: (any Error).self) { try KVOTool.parseAsRoot(["explain"] + arguments) })
    #expect(KVOTool.exitCode(for: error) == .validationFailure)
    return KVOTool.message(for: error)
  }

  private static let folder = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../../Documentation/Faults").standardized

  @Test func `Each page of Documentation/Faults is in the tool, verbatim`() throws {
    let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.hasPrefix("KVO") }
    #expect(files.count == FaultPages.all.count && files.count >= FaultKind.all.count)
    for page in FaultPages.all {
      let code = FaultKind.code(page.number)
      #expect(try String(contentsOf: Self.folder.appendingPathComponent("\(code).md"), encoding: .utf8) == page.text)
      #expect(page.text.hasPrefix("# \(code) · "))
    }
    for kind in FaultKind.all { #expect(FaultPages.all.contains { $0.number == kind.number }, "\(kind.code)") }
  }

  @Test(arguments: ["KVO0003", "kvo0003", "KVO3", "0003", "3", "KVO0003 fatal: no observer", "  kvo: KVO0003 error"])
  func `A code is found in any notation, and in the line of a report`(code: String) throws {
    let page = try output(code)
    #expect(page.hasPrefix("# KVO0003 · ") && page.contains("\n## Remedy\n"))
  }

  @Test func `The pages of several codes are printed one below the other`() throws {
    #expect(try output("2", "40") == output("2") + "\n" + output("40"))
  }

  @Test func `The list has a line for each page`() throws {
    let lines = try output("--list").split(separator: "\n")
    #expect(lines.count == FaultPages.all.count)
    for kind in FaultKind.all { #expect(lines.contains("\(kind.code) · \(kind.meaning)")) }
  }

  @Test func `For an unknown code the nearest ones are named`() throws {
    let text = try error("3", "KVO0099")
    let last = try #require(FaultKind.all.last?.code)
    #expect(text.contains("There is no KVO0099") && text.contains("\(last) · "), "\(text)")
  }

  @Test(arguments: ["", "KVO", "-1x", "KVO00x3"])
  func `An argument that is not a code is an error`(code: String) throws {
    #expect(try error("--", code).contains("is no code"))
  }

  @Test func `Words are searched for in all pages, and pages with the word in the title are first`() throws {
    let lines = try output("deallocated").split(separator: "\n")
    #expect(lines.first == "KVO0001 · an object was deallocated while observed" && lines.count > 3)
    #expect(try output("Deallocated") == output("deallocated"))
    #expect(try error("xyzzy").contains("No page has 'xyzzy'"))
  }

  @Test func `If one page has the words it is printed`() throws {
    #expect(try output("leak") == output("14"))
    #expect(try output("SELinux") == output("20"))
    #expect(try output("setNilValueForKey") == output("35"))
  }

  @Test func `A missing code is a usage error`() throws {
    #expect(try error().contains("--list"))
  }
}
