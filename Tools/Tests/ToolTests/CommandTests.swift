// The command-line tool: its arguments, and its errors for unreadable files.
import ArgumentParser
import KVOTool
import ScenarioLanguage
import Testing

@Suite("The tool kvo")
struct ToolTests {
  @Test func `A file that cannot be read ends the tool with status 66`() throws {
    let command = try KVOTool.parseAsRoot(["scenario", "/nowhere/at all.scenario"])
    let tool = try #require(command as? ScenarioTool)
    #expect(throws: ExitCode(66)) { try tool.run() }
  }

  @Test(arguments: [["scenario"], ["scenario", "--wrong", "-"], ["nonsense"]])
  func `Wrong arguments are a usage error`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try KVOTool.parseAsRoot(arguments) }
    #expect(error.map { KVOTool.exitCode(for: $0) } == .validationFailure)
  }
}
