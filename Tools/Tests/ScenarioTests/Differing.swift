// A readable description of a wrong answer.
/// Returns the lines that differ, each with its command; empty if none do.
func difference(_ expected: [String], _ printed: [String]) -> String {
  var result: [String] = []
  let changes = printed.difference(from: expected)
  let removed = Set(changes.removals.map(\.offset))
  let inserted = Set(changes.insertions.map(\.offset))
  var command: String?
  var (left, right) = (0, 0)
  func tell(_ line: String) {
    if let shown = command { result.append("  \(shown)") }
    command = nil
    result.append(line)
  }
  while left < expected.count || right < printed.count {
    if removed.contains(left), left < expected.count {
      tell("- \(expected[left])")
      left += 1
    } else if inserted.contains(right), right < printed.count {
      tell("+ \(printed[right])")
      right += 1
    } else {
      if expected[left].hasPrefix("> ") { command = expected[left] }
      left += 1
      right += 1
    }
  }
  return result.joined(separator: "\n")
}

extension CollectionDifference.Change {
  fileprivate var offset: Int {
    switch self {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
  }
}
