// The history as a graph of blocks, from 0 to 100 %, the newest sample on the right.
import KeyValueObserving
import MonitorModel

final class HistoryPane: Pane {
  private static let blocks = Array(" ▁▂▃▄▅▆▇█")
  private let title: String
  private let style: Style
  private let value: (History.Point) -> Double
  /// Copied from the changes: an insertion brings the new points, a removal takes the first ones.
  private var points: [History.Point] = []

  init(_ history: History, _ title: String, _ style: Style, value: @escaping (History.Point) -> Double) {
    (self.title, self.style, self.value) = (title, style, value)
    super.init()
    history.observe(\.points, options: [.new, .initial], for: self) { me, _, change in
      switch change.kind {
      case .insertion: me.points += change.newValue ?? []
      case .removal: me.points.removeFirst(change.indexes?.count ?? 0)
      case .setting, .replacement: me.points = change.newValue ?? []
      }
      me.setNeedsDisplay()
    }
  }

  override func lines() -> [Line] {
    let (height, width) = (frame.height - 1, frame.width)
    let shown = points.suffix(width)
    let present = shown.last.map { "\(decimalPercent(value($0))) %" } ?? ""
    let caption = Line("\(title) ", .dim).adding(present, style).adding("   of 100 %, \(shown.span)", .dim)
    // Fewer samples than columns share them.
    let places = max(shown.count, min(History.leastShown, width))
    let columns = (0..<width).map { column -> Double in
      let index = column * places / width - (places - shown.count)
      return index < 0 ? 0 : min(max(value(shown[shown.startIndex + index]), 0), 1)
    }
    let rows = (0..<max(0, height)).map { row in
      // Eighths of a cell that are filled below the top of this row.
      let line = columns.map { value in
        Self.blocks[min(max(Int((value * Double(height * 8)).rounded()) - (height - 1 - row) * 8, 0), 8)]
      }
      return Line(String(line), style)
    }
    return [caption] + rows
  }
}

private func decimalPercent(_ fraction: Double) -> Int { Int((fraction * 100).rounded()) }
