// The table of processes: a title, the columns, and as many rows as fit, with the selected one among them.
import HostModel
import KeyValueObserving
import MonitorModel

final class TablePane: Pane {
  private static let columns: [(column: ProcessTable.Column, title: String, width: Int)] = [
    (.pid, "PID", 8), (.state, "S", 3), (.cpu, "CPU %", 8), (.memory, "MEMORY", 12), (.name, "NAME", 0),
  ]

  private let table: ProcessTable
  private var firstRow = 0

  init(_ table: ProcessTable) {
    self.table = table
    super.init()
    // `rows` is set once in each sample, after the properties of all processes: one observation is enough for the table.
    table.onChange(of: \.rows, for: self) { me, _, _ in me.setNeedsDisplay() }
    // Computed properties: of the rows and the selection, of the filter and the host's list.
    table.onChange(of: \.selectedIndex, for: self) { me, _, _ in me.setNeedsDisplay() }
    table.onChange(of: \.title, for: self) { me, _, _ in me.setNeedsDisplay() }
  }

  /// The number of rows that fit.
  var pageSize: Int { max(1, frame.height - 2) }

  override func lines() -> [Line] {
    let selected = table.selectedIndex
    scroll(to: selected)
    let shown = table.rows.dropFirst(firstRow).prefix(pageSize)
    return [Line(table.title, .dim), header] + zip(shown.indices, shown).map { row($1, isSelected: $0 == selected) }
  }

  private func scroll(to selected: Int?) {
    if let selected { firstRow = min(max(firstRow, selected - pageSize + 1), selected) }
    firstRow = min(firstRow, max(0, table.rows.count - pageSize))
  }

  private var header: Line {
    Self.columns.reduce(Line()) { line, column in
      let isSorted = column.column == table.order.column
      let mark = isSorted ? (table.order.isDescending ? "▼" : "▲") : ""
      return line.adding(Self.cell(column.title + mark, column.column, column.width), isSorted ? [.bold] : [.dim])
    }
  }

  private func row(_ process: HostProcess, isSelected: Bool) -> Line {
    let cells = Self.columns.map { column in
      switch column.column {
      case .pid: Self.cell(String(process.pid), .pid, column.width)
      case .state: Self.cell(process.state, .state, column.width)
      case .cpu: Self.cell(decimal(process.cpuShare * 100, 1), .cpu, column.width)
      case .memory: Self.cell(size(process.residentBytes), .memory, column.width)
      case .name: printable(process.name)
      }
    }
    return Line(cells.joined(), isSelected ? .reverse : [])
  }

  /// Numbers end at the right of their column, texts begin at its left.
  private static func cell(_ text: String, _ column: ProcessTable.Column, _ width: Int) -> String {
    switch column {
    case .name: text
    case .state: fitting(" " + text, width)
    case .pid, .cpu, .memory: padded(text, width - 1) + " "
    }
  }
}
