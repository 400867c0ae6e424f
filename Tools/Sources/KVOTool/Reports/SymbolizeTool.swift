// kvo symbolize: puts source lines into reports, where they have modules and offsets.
import ArgumentParser
import Foundation

package struct SymbolizeTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "symbolize",
    abstract: "Puts source lines into reports, in place of module+offset.",
    discussion: """
      Takes a log with reports, as text or as JSON, and prints it. The lines come from the debug information of the modules, by \
      llvm-symbolizer. A module is looked for among --binary, where the program is or was, and in the folders of libraries; only a file \
      with the build-id that the report names is used.
      """)

  @Argument(help: ArgumentHelp("A file with reports; - is standard input.", valueName: "report"))
  var report = "-"

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("A program or library of the report, or a folder with them; may be repeated.", valueName: "path")
  )
  var binary: [String] = []

  package init() {}

  package func run() throws {
    let (text, missing) = try output()
    for module in missing { FileHandle.standardError.write(Data("kvo symbolize: \(module)\n".utf8)) }
    try OutputFile.write(Data(text.utf8), to: nil)
  }

  /// The text with source lines, and why some calls have none.
  package func output() throws -> (text: String, missing: [String]) {
    var lines = ReportLines(searching: binary)
    // Terminals end their lines with "\r\n", which is one Character.
    let text = String(decoding: try InputFile.read(report), as: UTF8.self).replacing("\r\n", with: "\n")
    return (lines.symbolized(text), lines.missing)
  }
}
