// The history as a graph: a column of blocks for each sample, the newest on the right.
import KeyValueObserving
import MonitorModel

final class HistoryPane: Pane {
  private static let blocks = Array(" ▁▂▃▄▅▆▇█")
  private let history: History
  private let title: String
  private let style: Style
  private let value: (History.Point) -> Double
  /// Copied from the changes: an insertion brings the new points, a removal takes the first ones.
  private var values: [Double] = []

  init(_ history: History, _ title: String, _ style: Style, value: @escaping (History.Point) -> Double) {
    (self.history, self.title, self.style, self.value) = (history, title, style, value)
    super.init()
    history.observe(\.points, options: [.new, .initial], for: self) { me, _, change in
      switch change.kind {
      case .insertion: me.values += (change.newValue ?? []).map(me.value)
      case .removal: me.values.removeFirst(change.indexes?.count ?? 0)
      case .setting, .replacement: me.values = (change.newValue ?? []).map(me.value)
      }
      me.setNeedsDisplay()
    }
  }

  override func lines() -> [Line] {
    let height = frame.height - 1
    let shown = values.suffix(frame.width)
    let indent = String(repeating: " ", count: frame.width - shown.count)
    let caption = "\(title) \(values.last.map { "\(decimalPercent($0)) %" } ?? "")"
    let rows = (0..<max(0, height)).map { row in
      // Eighths of a cell that are filled below the top of this row.
      let line = shown.map { value in
        let eighths = Int((min(max(value, 0), 1) * Double(height * 8)).rounded()) - (height - 1 - row) * 8
        return Self.blocks[min(max(eighths, 0), 8)]
      }
      return Line(indent + String(line), style)
    }
    return [Line(caption, .dim)] + rows
  }
}

private func decimalPercent(_ fraction: Double) -> Int { Int((fraction * 100).rounded()) }
