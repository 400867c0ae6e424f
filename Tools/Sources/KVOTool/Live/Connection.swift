// A connection to the socket of a running program: one request, then lines of JSON, and content of a length that a line has told.
import Foundation

package final class Connection {
  /// The first line of every answer.
  package struct Hello: Decodable, Equatable {
    package let `protocol`: Int
    package let library: String
    package let pid: Int32
    package let program: String
  }

  private struct Failure: Decodable {
    let error: String
    let code: String
  }

  private struct Content: Decodable {
    let bytes: Int
  }

  /// The version of the protocol that this tool speaks.
  static let version = 1

  let descriptor: Int32
  package private(set) var hello: Hello
  /// The process that made the socket, as this one names it: in a container the program has another number for itself.
  private(set) var peer: Int32 = 0
  /// Waiting ends with an error when this is signalled.
  var interruption: Interruption?
  private let path: String
  private var buffer = Data()

  /// Connects to a socket, sends a request and reads the first line of the answer.
  package init(to path: String, request: String) throws {
    self.path = path
    hello = Hello(protocol: 0, library: "", pid: 0, program: "")
    descriptor = try Self.connect(to: path)
    try checkOwner()
    send(request + "\n")
    guard let line = try line(within: 10) else { throw ended() }
    hello = try JSONDecoder().decode(Hello.self, from: line)
    guard hello.protocol == Self.version else {
      throw LiveError(
        "protocol",
        "\(hello.program) (process \(hello.pid), libkvo \(hello.library)) speaks version \(hello.protocol) of the protocol, "
          + "this tool version \(Self.version): use the tool of that version of the library.")
    }
  }

  deinit { close(descriptor) }

  /// Whether nobody listens to a socket any more.
  static func isLeft(_ path: String) -> Bool {
    do {
      close(try connect(to: path))
      return false
    } catch {
      return (error as? LiveError)?.code == "left"
    }
  }

  private static func connect(to path: String) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room else {
      throw LiveError("path", "The path of a socket has at most \(room - 1) bytes: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard made >= 0 else { throw LiveError("socket", "No socket: \(String(cString: strerror(errno)))") }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return made }
    let error = errno
    close(made)
    switch error {
    case ENOENT: throw LiveError("absent", "There is no socket \(path).")
    case ECONNREFUSED: throw LiveError("left", "The program of the socket \(path) has ended.")
    case EACCES: throw LiveError("forbidden", "The socket \(path) is another user's. Run kvo as that user, or as root.")
    default: throw LiveError("socket", "Cannot connect to \(path): \(String(cString: strerror(error)))")
    }
  }

  /// Refuses a socket that another user serves in the place of one's own: its answers could be anything.
  private func checkOwner() throws {
    var peer: [UInt32] = [0, 0, 0]  // struct ucred: process, user, group
    var size = socklen_t(3 * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0,
      geteuid() == 0 || peer[1] == geteuid() || peer[1] == 0
    else { throw LiveError("forbidden", "The socket \(path) is another user's. Run kvo as that user, or as root.") }
    self.peer = Int32(bitPattern: peer[0])
  }

  /// Tells the program that nothing more is wanted.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func send(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return }  // reading tells why
      rest = rest.dropFirst(count)
    }
  }

  private func ended() -> LiveError {
    let name = hello.pid != 0 ? "\(hello.program) (process \(hello.pid))" : path
    return LiveError("ended", "\(name) has ended, or closed the connection.")
  }

  /// Receives something more; false at the end of the connection.
  private func receive(within seconds: Double) throws -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while true {
      var polled = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interruption?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&polled, 2, Int32(max(0, min(deadline.timeIntervalSinceNow, 1000)) * 1000))
      if ready < 0, errno == EINTR { continue }
      if polled[1].revents != 0 { throw LiveError("interrupted", "Interrupted.") }
      if ready == 0, deadline.timeIntervalSinceNow > 0 { continue }
      if ready == 0 {
        throw LiveError(
          "silent", "\(path) does not answer: the program is stopped, or serves as many clients as it can.")
      }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      buffer.append(contentsOf: bytes.prefix(count))
      return true
    }
  }

  /// Whether a line can be read without waiting.
  var hasLine: Bool { buffer.contains(UInt8(ascii: "\n")) }

  /// Returns the next line; nil after the last one. Throws the error that the program answers, and if it ends before its last line.
  package func line(within seconds: Double) throws -> Data? {
    while !hasLine { guard try receive(within: seconds) else { throw ended() } }
    let end = buffer.firstIndex(of: UInt8(ascii: "\n"))!
    let line = Data(buffer[buffer.startIndex..<end])
    buffer = Data(buffer[(end + 1)...])
    if line == Data(#"{"done":true}"#.utf8) { return nil }
    if line.starts(with: Data(#"{"error""#.utf8)) {
      let failure = try JSONDecoder().decode(Failure.self, from: line)
      let text = failure.error.prefix(1).uppercased() + failure.error.dropFirst()
      throw LiveError(failure.code, text.hasSuffix("?") ? text : text + ".")
    }
    return line
  }

  /// Returns the content that the next line announces.
  package func content(within seconds: Double) throws -> Data {
    guard let line = try line(within: seconds) else { throw ended() }
    let size = max(0, try JSONDecoder().decode(Content.self, from: line).bytes)
    while buffer.count < size { guard try receive(within: 10) else { throw ended() } }
    let content = Data(buffer.prefix(size))
    buffer = Data(buffer.dropFirst(size))
    return content
  }
}
