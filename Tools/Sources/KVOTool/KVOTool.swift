// The root command of the tool kvo. Each subcommand is in a separate file or target.
import ArgumentParser
import CKVO
import ScenarioLanguage

package struct KVOTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "kvo", abstract: "Key-value observing from the command line.",
    version: String(cString: kvo_version_string()),
    subcommands: [
      TopTool.self, WhoTool.self, GraphTool.self, TraceTool.self, ListTool.self, ViewTool.self, ExplainTool.self,
      FaultsTool.self, SymbolizeTool.self, ScenarioTool.self, CrashTool.self,
    ])

  package init() {}
}
