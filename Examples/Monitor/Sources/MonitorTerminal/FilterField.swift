// The field that the filter is typed into.
import KeyValueObserving
import MonitorModel

@KeyValueObservable
final class FilterField {
  var text = ""
  /// Whether the keys go to this field.
  var isEditing = false

  init(_ table: ProcessTable) {
    // Both ways: the page has a field for the same filter.
    bindTwoWay(\.text, with: table, \.filter)
  }

  /// Returns whether the key is one for this field.
  func type(_ key: Key) -> Bool {
    guard isEditing else { return false }
    switch key.control ?? key {
    case .character(let scalar): text.unicodeScalars.append(scalar)
    case .backspace: if !text.isEmpty { text.removeLast() }
    case .enter: isEditing = false
    case .escape: (text, isEditing) = ("", false)
    case .up, .down, .pageUp, .pageDown, .home, .end: return false
    case .other: break
    }
    return true
  }
}

/// The last line: the filter while it is typed or set, and the keys.
final class StatusPane: Pane {
  private let field: FilterField
  private let address: String?

  init(_ field: FilterField, address: String?) {
    (self.field, self.address) = (field, address)
    super.init()
    field.source(\.text, \.isEditing).onChange(for: self) { me, _, _ in me.setNeedsDisplay() }
  }

  override func lines() -> [Line] {
    if field.isEditing || !field.text.isEmpty {
      let hint = field.isEditing ? "   Enter: keep   Esc: no filter" : "   /: change"
      // The end of a long one, where it is typed.
      let room = max(8, frame.width - cellCount("filter: ") - cellCount(hint) - 1)
      let text = cellCount(field.text) > room ? "…" + field.text.suffix(room - 1) : field.text
      return [Line("filter: ", .dim).adding(text + (field.isEditing ? "▏" : ""), .bold).adding(hint, .dim)]
    }
    let keys = "↑↓ select  p s c m n sort  / filter  o observations  q quit"
    return [Line(keys, .dim).adding(address.map { "   \($0)" } ?? "", .cyan)]
  }
}
