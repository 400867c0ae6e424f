// The processes as rows: filtered and sorted, with one of them selected.
import HostModel
import KeyValueObserving

@KeyValueObservable
package final class ProcessTable {
  package enum Column: String, CaseIterable, Codable, Sendable {
    case pid, state, cpu, memory, name

    /// Whether the first click on a column puts the largest values on top.
    package var isDescendingAtFirst: Bool { self == .cpu || self == .memory }
  }

  /// One property, so that a new order is one change.
  package struct Order: Equatable, Codable, Sendable {
    package var column: Column
    package var isDescending: Bool
  }

  package var order = Order(column: .cpu, isDescending: true)
  /// The rows are the processes whose name contains this text, or whose PID begins with it.
  package var filter = ""
  /// Set once in each sample, after all properties of the processes, and when the order or the filter changes.
  package private(set) var rows: [HostProcess] = []
  /// The selected process. It is weak: a process that is gone is not selected any more.
  package weak var selection: HostProcess?

  @NotObserved private let host: Machine
  /// Where the selection was at last, for the process that is selected after it is gone.
  @NotObserved private var lastIndex = 0

  /// Computed properties are observable too: the runtime records what they read.
  package var selectedIndex: Int? { selection.flatMap { selected in rows.firstIndex { $0 === selected } } }
  package var title: String {
    let all = host.processes.count
    return filter.isEmpty ? "\(all) processes" : "\(rows.count) of \(all) processes"
  }

  package init(_ host: Machine) {
    self.host = host
    // `samples` is set last in each sample.
    KeyValueSource.combineLatest(host.source(\.samples), source(\.order), source(\.filter)) { _, _, _ in }
      .observe(options: [.initial], for: self) { me, _ in me.arrange() }
  }

  /// Sorts by a column; by the column that is sorted by already, in the other direction.
  package func sort(by column: Column) {
    let isDescending = column == order.column ? !order.isDescending : column.isDescendingAtFirst
    order = Order(column: column, isDescending: isDescending)
  }

  /// Selects the process a number of rows below the selected one, or above it; the first row if none is selected.
  package func moveSelection(by count: Int) {
    guard !rows.isEmpty else { return }
    selection = rows[selectedIndex.map { min(max($0 + count, 0), rows.count - 1) } ?? 0]
  }

  /// Selects the process with a PID; returns whether there is one in the rows.
  package func select(pid: Int32) -> Bool {
    guard let process = rows.first(where: { $0.pid == pid }) else { return false }
    selection = process
    return true
  }

  private func arrange() {
    let shown = filter.isEmpty ? host.processes : host.processes.filter(matchesFilter)
    let hadSelection = selection != nil
    if let selectedIndex { lastIndex = selectedIndex }
    // The last reference to a process that is gone may be in the old rows: this set ends its observations, and clears the selection.
    rows = shown.sorted { order.isDescending ? precedes($1, $0) : precedes($0, $1) }
    if hadSelection, selectedIndex == nil, !rows.isEmpty { selection = rows[min(lastIndex, rows.count - 1)] }
  }

  private func matchesFilter(_ process: HostProcess) -> Bool {
    process.name.localizedCaseInsensitiveContains(filter) || String(process.pid).hasPrefix(filter)
  }

  /// Equal values are in the order of their PIDs, so that rows do not move without a reason.
  private func precedes(_ left: HostProcess, _ right: HostProcess) -> Bool {
    switch order.column {
    case .pid: left.pid < right.pid
    case .state: (left.state, left.pid) < (right.state, right.pid)
    case .cpu: (left.cpuShare, left.pid) < (right.cpuShare, right.pid)
    case .memory: (left.residentBytes, left.pid) < (right.residentBytes, right.pid)
    case .name: (left.name.lowercased(), left.pid) < (right.name.lowercased(), right.pid)
    }
  }
}
