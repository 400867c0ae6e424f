// A part of the screen that observes what it shows, and is drawn again when that has changed.

@MainActor
class Pane {
  var frame = Frame() { didSet { if frame != oldValue { setNeedsDisplay() } } }
  var isHidden = false { didSet { if isHidden != oldValue { setNeedsDisplay() } } }
  private(set) var needsDisplay = true
  /// Called when the pane needs to be drawn.
  var whenNeedingDisplay: () -> Void = {}

  /// Like AppKit's: any number of changes cause one drawing, at the end of the main actor's turn.
  func setNeedsDisplay() {
    needsDisplay = true
    whenNeedingDisplay()
  }

  func display(on terminal: Terminal) {
    needsDisplay = false
    guard !isHidden, frame.height > 0, frame.width > 0 else { return }
    let lines = lines()
    for row in 0..<frame.height {
      let line = row < lines.count ? lines[row] : Line()
      line.draw(on: terminal, row: frame.row + row, column: frame.column, width: frame.width)
    }
  }

  /// What the pane shows in its frame, from the top. Overridden.
  func lines() -> [Line] { [] }
}

/// A line of text in several styles.
struct Line {
  private(set) var parts: [(text: String, style: Style)] = []

  init(_ text: String = "", _ style: Style = []) { parts = [(text, style)] }

  func adding(_ text: String, _ style: Style = []) -> Line {
    var line = self
    line.parts.append((text, style))
    return line
  }

  @MainActor
  func draw(on terminal: Terminal, row: Int, column: Int, width: Int) {
    var used = 0
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      let cells = isLast ? width - used : min(cellCount(part.text), width - used)
      terminal.draw(part.text, row: row, column: column + used, width: cells, part.style)
      used += max(0, cells)
    }
  }
}
