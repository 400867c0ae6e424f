// Two lists side by side, for issues.

/// The text of two lists side by side, with the rows that differ marked.
struct SideBySide {
  let expected: [String]
  let actual: [String]
  let differs: (Int) -> Bool

  /// Lines such as `  1  "Emma"     "Emma"` and `! 2  "Persuasion"  (none)`. Of long lists the rows around the first difference.
  var text: String {
    let count = max(expected.count, actual.count)
    let first = (0..<count).first(where: differs) ?? 0
    let shown = max(0, first - 5)..<min(count, first + 15)
    let left = shown.map { row(expected, $0) }
    let width = min(60, max("expected".count, left.map(\.count).max() ?? 0))
    let numbers = String(count).count
    var lines = ["  " + padded("", numbers) + "  " + padded("expected", width) + "  actual"]
    if shown.lowerBound > 0 { lines.append("  … \(shown.lowerBound) equal") }
    for index in shown {
      let mark = differs(index) ? "!" : " "
      let text = row(expected, index)
      // A long text has a line of its own.
      let gap = text.count > width ? "\n" + padded("", numbers + width + 6) : padded("", width - text.count + 2)
      let number = String(index + 1)
      lines.append("\(mark) " + padded("", numbers - number.count) + number + "  " + text + gap + row(actual, index))
    }
    if shown.upperBound < count { lines.append("  … \(count - shown.upperBound) more") }
    return lines.joined(separator: "\n")
  }

  private func row(_ list: [String], _ index: Int) -> String { index < list.count ? list[index] : "(none)" }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
