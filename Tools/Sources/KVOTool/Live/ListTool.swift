// kvo list: the programs that can be looked at.
import ArgumentParser
import Foundation

package struct ListTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the running programs that kvo can look at.",
    discussion: """
      A program can be looked at if it was started with KVO_SOCKET=1, from its first observation on. Sockets that killed programs of this \
      user have left are removed.
      """)

  @Flag(help: "Print one line of JSON for each program.")
  var json = false

  package init() {}

  private struct Row: Encodable {
    let pid: Int32
    let program: String
    let library: String
    let socket: String
  }

  package func run() throws {
    LeftSockets.remove()
    let output = try output()
    print(output, terminator: output.isEmpty ? "" : "\n")
  }

  package func output() throws -> String {
    var rows: [Row] = []
    for process in RunningProcess.all {
      for path in process.sockets where FileManager.default.fileExists(atPath: path) {
        guard let hello = try? Connection(to: path, request: "hello").hello, hello.pid == process.pid else { continue }
        rows.append(Row(pid: process.pid, program: hello.program, library: hello.library, socket: path))
        break
      }
    }
    if json { return try rows.map { try Columns.json($0) }.joined(separator: "\n") }
    if rows.isEmpty { return "No program. Start one with KVO_SOCKET=1 in its environment." }
    return Columns.text(
      ["PID", "PROGRAM", "LIBRARY", "SOCKET"], rows.map { ["\($0.pid)", $0.program, $0.library, $0.socket] },
      numbers: [0])
  }
}
