// kvo crash: its arguments and its output. scripts/crashes.py checks the scenarios themselves.
import ArgumentParser
import KVOTool
import Testing

@Suite("kvo crash")
struct CrashToolTests {
  @Test(arguments: [[], ["K00"], ["K27", "--list"], ["--all"]])
  func `Wrong arguments are a usage error`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try KVOTool.parseAsRoot(["crash"] + arguments) }
    #expect(error.map { KVOTool.exitCode(for: $0) } == .validationFailure)
  }

  @Test func `The list has the rows of both languages`() throws {
    let lines = try kvo("crash", "--list").output.split(separator: "\n")
    for name in ["K27 ", "K27c"] { #expect(lines.contains { $0.hasPrefix(name) && $0.hasSuffix("  3") }) }
  }

  @Test func `The last line of a scenario has its end`() throws {
    let (status, text, _) = try kvo("crash", "k26")
    #expect(status == 0)
    #expect(text.hasPrefix("K26: removal of what was never registered\n"))
    #expect(text.hasSuffix("K26 ended with SIGABRT\n"))
    // A row that only C has.
    #expect(try kvo("crash", "K48").output.hasSuffix("K48c ended with SIGABRT\n"))
  }
}
