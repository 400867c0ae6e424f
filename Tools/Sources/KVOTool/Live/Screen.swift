// The live screen of kvo top: the terminal's second screen, redrawn in place, and restored however the tool ends.
import Foundation

/// The terminal's settings before, for the signal handler too. Written once, before the handler is set. Allocated, because the compiler
/// reserves 57 bytes for a global termios, of which C writes 60.
nonisolated(unsafe) private let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)
private let leaving: StaticString = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

enum Screen {
  /// Shows intervals until the program ends or the user types q.
  static func show(_ connection: Connection, top: TopTool) throws {
    enter()
    defer { leave() }
    draw(["\(Columns.clean(connection.hello.program))  process \(connection.hello.pid)", "", "counting…"])
    var last: Figures?
    var interval: Interval?
    while true {
      switch wait(connection) {
      case .quit: return
      case .resized: if let interval { draw(interval, top) }
      case .answer:
        guard let line = try connection.line(within: 10) else { return }
        let figures = try JSONDecoder().decode(Figures.self, from: line)
        if let last {
          interval = Interval(of: connection.hello, from: last, to: figures)
          draw(interval!, top)
        }
        last = figures
      }
    }
  }

  private enum Event {
    case answer, resized, quit
  }

  /// Waits for an answer or a key.
  private static func wait(_ connection: Connection) -> Event {
    while !connection.hasLine {
      var polled = [
        pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isatty(STDIN_FILENO) != 0 ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&polled, 2, -1) < 0 { return .resized }
      if polled[1].revents & Int16(POLLIN) != 0 {
        var key: UInt8 = 0
        if read(STDIN_FILENO, &key, 1) != 1 || key == UInt8(ascii: "q") || key == UInt8(ascii: "Q") { return .quit }
        return .resized
      }
      if polled[0].revents != 0 { return .answer }
    }
    return .answer
  }

  private static func draw(_ interval: Interval, _ top: TopTool) {
    draw(TopText.lines(interval, sort: top.sort, height: size().rows - 1) + ["q quits"])
  }

  private static func draw(_ lines: [String]) {
    // No line is longer than the terminal is wide: it does not wrap.
    let text = "\u{1b}[H" + lines.prefix(size().rows).joined(separator: "\u{1b}[K\r\n") + "\u{1b}[K\u{1b}[J"
    try? OutputFile.write(Data(text.utf8), to: nil)
  }

  private static func size() -> (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  private static func enter() {
    before.initialize(to: termios())
    tcgetattr(STDIN_FILENO, before)
    var raw = before.pointee
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    var ending = sigset_t()
    sigemptyset(&ending)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      sigaddset(&ending, number)
      signal(number) { number in
        _ = write(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSANOW, before)
        _exit(number == SIGINT ? 0 : 128 + number)
      }
    }
    signal(SIGTSTP, SIG_IGN)  // the shell would be left with this screen
    pthread_sigmask(SIG_UNBLOCK, &ending, nil)  // the program that started this one may have blocked them
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGWINCH, &action, nil)  // it interrupts poll
    if isatty(STDIN_FILENO) != 0 { tcsetattr(STDIN_FILENO, TCSANOW, &raw) }
    try? OutputFile.write(Data("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l".utf8), to: nil)
  }

  private static func leave() {
    _ = write(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount)
    if isatty(STDIN_FILENO) != 0 { tcsetattr(STDIN_FILENO, TCSANOW, before) }
  }
}
