// The terminal: ncurses, with the few calls that the panes draw with.
import CCurses
import Dispatch
import Glibc
import HostModel

/// How a text is drawn.
struct Style: OptionSet {
  let rawValue: Int
  static let bold = Style(rawValue: 1)
  static let dim = Style(rawValue: 2)
  static let reverse = Style(rawValue: 4)
  static let green = Style(rawValue: 8)
  static let yellow = Style(rawValue: 16)
  static let cyan = Style(rawValue: 32)
}

/// A part of the screen, in cells.
struct Frame: Equatable {
  var row = 0
  var column = 0
  var height = 0
  var width = 0
}

@MainActor
final class Terminal {
  enum Failure: Error, CustomStringConvertible {
    case noTerminal
    case unknownType(String)
    case unsuitableType(String)

    var description: String {
      switch self {
      case .noTerminal: "The monitor needs a terminal for input and output. Without one, use --no-terminal with --web."
      case .unknownType(let name): "The terminal type \"\(name)\" (TERM) is not known to ncurses."
      case .unsuitableType(let name):
        "A terminal of type \"\(name)\" (TERM) cannot put text at any place of its screen."
      }
    }
  }

  private var isOpen = false

  /// Takes the screen, until `close` is called.
  init() throws {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { throw Failure.noTerminal }
    // Block characters and names need UTF-8, also if the user's locale is "C".
    if setlocale(LC_CTYPE, "") == nil || String(cString: nl_langinfo(nl_item(CODESET))) != "UTF-8" {
      setlocale(LC_CTYPE, "C.UTF-8")
    }
    let type = getenv("TERM").map { String(cString: $0) } ?? ""
    guard curses_open() != nil else { throw Failure.unknownType(type) }
    guard curses_can_move() else {
      endwin()
      throw Failure.unsuitableType(type)
    }
    isOpen = true
    cbreak()
    noecho()
    keypad(curses_screen(), true)
    nodelay(curses_screen(), true)
    set_escdelay(25)
    curs_set(0)
    guard has_colors() else { return }
    start_color()
    use_default_colors()
    for (pair, color) in [(1, COLOR_GREEN), (2, COLOR_YELLOW), (3, COLOR_CYAN)] {
      init_pair(Int16(pair), Int16(color), -1)
    }
  }

  /// Gives the screen back.
  func close() {
    guard isOpen else { return }
    isOpen = false
    endwin()
  }

  var height: Int { Int(getmaxy(curses_screen())) }
  var width: Int { Int(getmaxx(curses_screen())) }

  /// Takes over the present size of the terminal.
  func resize() {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return }
    resizeterm(Int32(size.ws_row), Int32(size.ws_col))
    clearok(curses_screen(), true)
  }

  /// Empties the screen: what panes do not draw in may have been drawn in before.
  func clear() { werase(curses_screen()) }

  /// Returns a key that was typed, or nil.
  func key() -> Key? {
    var code: wint_t = 0
    switch wget_wch(curses_screen(), &code) {
    case OK: return Unicode.Scalar(code).map(Key.character) ?? .other
    case KEY_CODE_YES: return Key(code: Int32(code))
    default: return nil
    }
  }

  /// Draws a text in a width of cells: it is cut, or filled with spaces.
  func draw(_ text: String, row: Int, column: Int, width: Int, _ style: Style = []) {
    guard row >= 0, row < height, column >= 0, column < self.width, width > 0 else { return }
    let attributes = attributes(style)
    attr_on(attributes, nil)
    mvaddstr(Int32(row), Int32(column), fitting(text, min(width, self.width - column)))
    attr_off(attributes, nil)
  }

  func show() { refresh() }

  private func attributes(_ style: Style) -> attr_t {
    var attributes: attr_t = 0
    if style.contains(.bold) { attributes |= curses_bold() }
    if style.contains(.dim) { attributes |= curses_dim() }
    if style.contains(.reverse) { attributes |= curses_reverse() }
    if style.contains(.green) { attributes |= curses_color(1) }
    if style.contains(.yellow) { attributes |= curses_color(2) }
    if style.contains(.cyan) { attributes |= curses_color(3) }
    return attributes
  }
}
