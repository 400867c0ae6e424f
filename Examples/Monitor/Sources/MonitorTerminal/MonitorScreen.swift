// The screen: arranges the panes, draws those that need it, and turns keys into sets of the model.
import Dispatch
import Glibc
import HostModel
import KeyValueObserving
import MonitorModel

@MainActor
package final class MonitorScreen {
  private let monitor: Monitor
  private let terminal: Terminal
  private let header: HeaderPane
  private let graphs: [HistoryPane]
  private let table: TablePane
  private let inspector: InspectorPane
  private let detail: DetailPane
  private let status: StatusPane
  private let field: FilterField
  private let whenQuitting: () -> Void
  private var sources: [any DispatchSourceProtocol] = []
  private var isDrawingPlanned = false

  private var panes: [Pane] { [header] + graphs + [table, inspector, detail, status] }

  /// Takes the terminal, until `close` is called.
  /// - Parameter address: The address of the page, if there is one.
  package init(_ monitor: Monitor, address: String?, whenQuitting: @escaping () -> Void) throws {
    self.monitor = monitor
    self.whenQuitting = whenQuitting
    terminal = try Terminal()
    header = HeaderPane(monitor.host)
    graphs = [
      HistoryPane(monitor.history, "CPU", .green, value: \.cpu),
      HistoryPane(monitor.history, "Memory", .yellow, value: \.memory),
    ]
    table = TablePane(monitor.table)
    inspector = InspectorPane(monitor.inspector)
    detail = DetailPane(monitor.detail)
    field = FilterField(monitor.table)
    status = StatusPane(field, address: address)
    for pane in panes { pane.whenNeedingDisplay = { [unowned self] in planDrawing() } }
    arrange()
    showInspector(isWide)
    listen()
  }

  package func close() {
    for source in sources { source.cancel() }
    terminal.close()
  }

  private func listen() {
    let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    keys.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.readKeys() } }
    let size = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .main)
    size.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        self?.terminal.resize()
        self?.arrange()
      }
    }
    sources = [keys, size]
    for source in sources { source.activate() }
  }

  /// Whether the inspector has room beside the table.
  private var isWide: Bool { terminal.width >= 130 }

  /// A small terminal has the table only.
  private func arrange() {
    let (height, width) = (terminal.height, terminal.width)
    header.frame = Frame(row: 0, column: 0, height: 3, width: width)
    let graphHeight = height >= 22 ? min(8, height / 5) : 0
    let half = (width - 2) / 2
    graphs[0].frame = Frame(row: 3, column: 0, height: graphHeight, width: half)
    graphs[1].frame = Frame(row: 3, column: half + 2, height: graphHeight, width: width - half - 2)
    let top = 3 + graphHeight
    let detailHeight = height >= 14 ? 4 : 0
    let tableHeight = max(0, height - top - detailHeight - 1)
    let isBeside = isWide && !inspector.isHidden
    table.isHidden = !isWide && !inspector.isHidden
    table.frame = Frame(row: top, column: 0, height: tableHeight, width: isBeside ? half : width)
    inspector.frame =
      isBeside ? Frame(row: top, column: half + 2, height: tableHeight, width: width - half - 2) : table.frame
    detail.frame = Frame(row: height - detailHeight, column: 0, height: max(0, detailHeight - 1), width: width)
    status.frame = Frame(row: height - 1, column: 0, height: 1, width: width)
    terminal.clear()
    for pane in panes { pane.setNeedsDisplay() }
  }

  /// Draws at the end of this turn of the main actor, whatever number of changes it makes.
  private func planDrawing() {
    guard !isDrawingPlanned else { return }
    isDrawingPlanned = true
    Task {
      isDrawingPlanned = false
      for pane in panes where pane.needsDisplay { pane.display(on: terminal) }
      terminal.show()
    }
  }

  private func readKeys() {
    var hasRead = false
    while let key = terminal.key() {
      hasRead = true
      handle(key)
    }
    // At the end of the input the terminal is gone.
    var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    if !hasRead, Glibc.poll(&poll, 1, 0) == 1, Int32(poll.revents) & (POLLHUP | POLLERR) != 0 { whenQuitting() }
  }

  private func handle(_ key: Key) {
    if field.type(key) { return }
    let key = key.control ?? key
    if !table.isHidden { return handleInTable(key) }
    switch key {
    case .up: inspector.scroll(by: -1)
    case .down: inspector.scroll(by: 1)
    case .pageUp: inspector.scroll(by: -inspector.pageSize)
    case .pageDown: inspector.scroll(by: inspector.pageSize)
    case .home: inspector.scroll(by: -.max / 2)
    case .escape, "o": showInspector(false)
    case "q": whenQuitting()
    default: break
    }
  }

  private func handleInTable(_ key: Key) {
    switch key {
    case .up: monitor.table.moveSelection(by: -1)
    case .down: monitor.table.moveSelection(by: 1)
    case .pageUp: monitor.table.moveSelection(by: -table.pageSize)
    case .pageDown: monitor.table.moveSelection(by: table.pageSize)
    case .home: monitor.table.moveSelection(by: -monitor.table.rows.count)
    case .end: monitor.table.moveSelection(by: monitor.table.rows.count)
    case .escape: monitor.table.selection = nil
    case "p": monitor.table.sort(by: .pid)
    case "s": monitor.table.sort(by: .state)
    case "c": monitor.table.sort(by: .cpu)
    case "m": monitor.table.sort(by: .memory)
    case "n": monitor.table.sort(by: .name)
    case "/": field.isEditing = true
    case "o": showInspector(inspector.isHidden)
    case "q": whenQuitting()
    default: break
    }
  }

  private func showInspector(_ isShown: Bool) {
    guard inspector.isHidden == isShown else { return }
    inspector.isHidden = !isShown
    monitor.inspector.viewers += isShown ? 1 : -1
    arrange()
  }
}
