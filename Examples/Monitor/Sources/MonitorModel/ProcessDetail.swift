// What is shown of the selected process: each property is bound to the selection.
import HostModel
import KeyValueObserving

@KeyValueObservable
package final class ProcessDetail {
  package private(set) var title = ""
  package private(set) var state = ""
  package private(set) var memory = ""
  package private(set) var cpu = ""
  package private(set) var commandLine = ""

  package init(_ host: Machine, _ table: ProcessTable, folder: ProcFolder) {
    // A key path through the selection follows each selected process, and is nil if there is none.
    table.source(\.selection?.name).map { name in name.map(printable) ?? "No process is selected" }.bind(
      to: self, \.title)
    table.source(\.selection?.state).map { $0.map(Self.stateName) ?? "" }.bind(to: self, \.state)
    table.source(\.selection?.cpuShare).map { $0.map { "\(decimal($0 * 100, 1)) %" } ?? "" }.bind(to: self, \.cpu)
    table.source(\.selection).map { $0.map { Self.commandLine(of: $0, in: folder) } ?? "" }.bind(
      to: self, \.commandLine)
    // An expression may read several properties, of several objects. It is evaluated again when one of them changes.
    bind(\.memory) {
      guard let process = table.selection else { return "" }
      guard let memory = host.memory else { return size(process.residentBytes) }
      let share = Double(process.residentBytes) / Double(memory.total)
      return "\(size(process.residentBytes)), \(decimal(share * 100, 1)) % of the machine"
    }
  }

  /// The arguments are separated by NUL. A kernel thread has none; those of another user's process may be unreadable.
  private static func commandLine(of process: HostProcess, in folder: ProcFolder) -> String {
    guard let bytes = try? folder.bytes(of: "\(process.pid)/cmdline") else { return "" }
    let arguments = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    return printable(arguments.joined(separator: " "))
  }

  private static func stateName(_ state: String) -> String {
    switch state {
    case "R": "running"
    case "S": "sleeping"
    case "D": "waiting for a device"
    case "T", "t": "stopped"
    case "Z": "ended, not yet awaited by its parent"
    case "I": "idle kernel thread"
    default: state
    }
  }
}
