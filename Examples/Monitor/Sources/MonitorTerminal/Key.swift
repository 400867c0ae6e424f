// The keys that the monitor knows.
import CCurses

enum Key: Equatable, ExpressibleByUnicodeScalarLiteral {
  case up, down, pageUp, pageDown, home, end
  case enter, escape, backspace
  case character(Unicode.Scalar)
  case other

  init(unicodeScalarLiteral scalar: Unicode.Scalar) { self = .character(scalar) }

  init(code: Int32) {
    self =
      switch code {
      case KEY_UP: .up
      case KEY_DOWN: .down
      case KEY_PPAGE: .pageUp
      case KEY_NPAGE: .pageDown
      case KEY_HOME: .home
      case KEY_END: .end
      case KEY_ENTER: .enter
      case KEY_BACKSPACE: .backspace
      default: .other
      }
  }

  /// The key that a control character stands for.
  var control: Key? {
    guard case .character(let scalar) = self else { return nil }
    return switch scalar.value {
    case 0x0A, 0x0D: .enter
    case 0x1B: .escape
    case 0x08, 0x7F: .backspace
    case 0..<0x20: .other
    default: nil
    }
  }
}
