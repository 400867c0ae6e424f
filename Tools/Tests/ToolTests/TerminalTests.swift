// kvo top on a terminal: what the screen shows, the keys, and that the terminal is restored.
import Foundation
import Testing

/// The tool "kvo" on a pseudoterminal.
private final class TerminalProgram {
  // TIOCGPTN and TIOCSPTLCK, which Swift does not import.
  private static let numberRequest: UInt = 0x8004_5430
  private static let lockRequest: UInt = 0x4004_5431

  let process = Process()
  private let terminal: FileHandle
  private let screen: FileHandle
  private(set) var output = ""

  init(_ arguments: String..., rows: UInt16, columns: UInt16) throws {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (number, isLocked) = (UInt32(0), Int32(0))
    try #require(ioctl(descriptor, Self.numberRequest, &number) == 0)
    try #require(ioctl(descriptor, Self.lockRequest, &isLocked) == 0)
    screen = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    terminal = FileHandle(
      fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC), closeOnDealloc: true)
    resize(rows: rows, columns: columns)
    process.executableURL = built("kvo")
    process.arguments = arguments
    (process.standardInput, process.standardOutput) = (terminal, terminal)
    try process.run()
  }

  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(screen.fileDescriptor, UInt(TIOCSWINSZ), &size)
    if process.isRunning { kill(process.processIdentifier, SIGWINCH) }  // it is not its controlling terminal
  }

  func type(_ keys: String) { screen.write(Data(keys.utf8)) }

  /// Reads what is written until it contains this text, or for a minute. Returns what follows the last drawing's beginning.
  func drawing(with text: String) throws -> [String] {
    let deadline = Date(timeIntervalSinceNow: 60)
    while true {
      let drawings = output.components(separatedBy: "\u{1b}[H").dropFirst()
      if let drawing = drawings.last(where: { $0.hasSuffix("\u{1b}[J") && $0.contains(text) }) {
        let text = String(String.UnicodeScalarView(drawing.unicodeScalars.filter { $0 != "\r" }))
        return text.replacingOccurrences(of: "\u{1b}[K", with: "").components(separatedBy: "\n")
      }
      var polled = pollfd(fd: screen.fileDescriptor, events: Int16(POLLIN), revents: 0)
      try #require(Date() < deadline && poll(&polled, 1, 60_000) == 1, "no \"\(text)\" in \(output.debugDescription)")
      output += String(decoding: screen.availableData, as: UTF8.self)
    }
  }

  /// Waits for the end. Returns the status, and what was written since.
  func end() -> (status: Int32, output: String) {
    var rest = ""
    var polled = pollfd(fd: screen.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let hasEnded = !process.isRunning
      if poll(&polled, 1, 10) == 1 {  // a terminal that nobody reads would block it
        rest += String(decoding: screen.availableData, as: UTF8.self)
      } else if hasEnded {
        return (process.terminationStatus, rest)
      }
    }
  }

  func forget() { output = "" }

  /// Whether the terminal edits lines and echoes, as a shell expects it.
  var isUsual: Bool {
    var settings = termios()
    tcgetattr(terminal.fileDescriptor, &settings)
    return settings.c_lflag & tcflag_t(ICANON) != 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }
}

@Suite("kvo top on a terminal")
struct TerminalTests {
  private let restored = "\u{1b}[?25h\u{1b}[?1049l"

  @Test func `it redraws its own screen, with as many lines as there are, until q is typed`() throws {
    let program = try ServedProgram(socket: "1")
    let top = try TerminalProgram("top", program.name, "--interval", "0.1", rows: 12, columns: 60)
    #expect(try top.drawing(with: "counting")[0] == "served  process \(program.pid)")
    #expect(top.output.hasPrefix("\u{1b}[?1049h\u{1b}[?25l"))
    #expect(!top.isUsual)
    let lines = try top.drawing(with: "NOTIFIED/s")
    #expect(lines[0] == "served  process \(program.pid)")
    #expect(lines.count <= 12)
    #expect(lines.last == "q quits\u{1b}[J")
    top.resize(rows: 5, columns: 60)
    top.forget()
    #expect(try top.drawing(with: "q quits").count == 5)
    top.type("q")
    let (status, output) = top.end()
    #expect(status == 0)
    #expect(output.hasSuffix(restored))
    #expect(top.isUsual)
  }

  @Test func `it restores the terminal when the program ends, and when a signal ends it`() throws {
    for (number, expected) in [(0, 1), (SIGINT, 0), (SIGTERM, 128 + SIGTERM)] as [(Int32, Int32)] {
      let program = try ServedProgram(socket: "1")
      let top = try TerminalProgram("top", program.name, "--interval", "0.1", rows: 24, columns: 80)
      _ = try top.drawing(with: "NOTIFIED/s")
      if number == 0 { program.end() } else { kill(top.process.processIdentifier, number) }
      let (status, output) = top.end()
      #expect(status == expected, "signal \(number)")
      #expect(output.contains(restored))
      #expect(top.isUsual)
    }
  }
}
