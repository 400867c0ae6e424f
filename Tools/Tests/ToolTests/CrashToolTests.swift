// kvo crash: its arguments and its output. CrashDiagnosticsTests test the scenarios themselves.
import ArgumentParser
import KVOTool
import Testing

@Suite("kvo crash")
struct CrashToolTests {
  @Test(arguments: [[], ["K00"], ["K27", "--all"], ["--list", "--all"], ["--all", "--language", "latin"]])
  func `Wrong arguments are a usage error`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try KVOTool.parseAsRoot(["crash"] + arguments) }
    #expect(error.map { KVOTool.exitCode(for: $0) } == .validationFailure)
  }

  @Test func `The list has the rows of both languages in order`() throws {
    let lines = try kvo("crash", "--list").output.split(separator: "\n")
    let names = lines.map { String($0.prefix { $0 != " " }) }
    let (first, second) = (try #require(names.firstIndex(of: "K27")), try #require(names.firstIndex(of: "K27c")))
    #expect(second == first + 1)
    #expect(lines[first].hasSuffix("SIGABRT    3"))
  }

  @Test func `The last line of a scenario has its end, its codes, and whether this was expected`() throws {
    let (status, text, _) = try kvo("crash", "k26")
    #expect(status == 0)
    #expect(text.hasPrefix("K26 (3.2 Removal): removal of what was never registered\n"))
    #expect(text.hasSuffix("K26 ended with SIGABRT; codes: KVO0002; pass\n"))
    // A row that only C has.
    #expect(try kvo("crash", "K48").output.hasSuffix("K48c ended with SIGABRT; codes: KVO0012; pass\n"))
  }
}
