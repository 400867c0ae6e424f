// The tool kvo: its root command. Each subcommand has a file or a target of its own.
import ArgumentParser
import ScenarioLanguage

package struct KVOTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "kvo", abstract: "Key-value observing from the command line.",
    subcommands: [ScenarioTool.self, FaultsTool.self, ExplainTool.self, CrashTool.self])

  package init() {}
}
