// Finds the socket of a running program, by its process id or by its path.
import ArgumentParser
import Foundation

/// A program as the user names it: a process id, or the path of a socket.
package struct RunningProgram: ExpressibleByArgument {
  let argument: String

  package init(argument: String) { self.argument = argument }

  package static let help = ArgumentHelp("The process id, or the path of the socket.", valueName: "pid")

  private var pid: Int32? { Int32(argument).flatMap { $0 > 0 ? $0 : nil } }

  /// For the validation of a command, whose usage is shown then.
  package func validate() throws {
    if argument.contains("/") || pid != nil { return }
    throw ValidationError("'\(argument)' is neither a process id nor the path of a socket.")
  }

  /// Connects and sends a request.
  package func ask(_ request: String) throws -> Connection {
    guard !argument.contains("/"), let pid else { return try Connection(to: argument, request: request) }
    guard let process = RunningProcess(pid) else { throw LiveError("absent", "There is no process \(pid).") }
    guard process.isReadable else {
      throw LiveError(
        "forbidden", "Process \(pid) (\(process.name)) is another user's. Run kvo as that user, or as root.")
    }
    for path in process.sockets where FileManager.default.fileExists(atPath: path) {
      return try Connection(to: path, request: request)
    }
    throw process.whyNot
  }
}

/// A process, from /proc.
struct RunningProcess {
  let pid: Int32
  private let folder: String
  /// Its environment as it was started.
  private let environment: [String: String]
  /// Whether this user may look at it.
  let isReadable: Bool
  private let user: UInt32

  init?(_ pid: Int32) {
    self.pid = pid
    folder = "/proc/\(pid)"
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    user = status.st_uid
    let words = Self.words("\(folder)/environ")
    isReadable = geteuid() == 0 || (words != nil && geteuid() == user)
    environment = Dictionary(
      (words ?? []).compactMap { word in
        word.firstIndex(of: "=").map { (String(word[..<$0]), String(word[word.index(after: $0)...])) }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// All processes that this user may look at.
  static var all: [RunningProcess] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.sorted().compactMap { RunningProcess($0) }.filter(\.isReadable)
  }

  private static func words(_ file: String) -> [String]? {
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  var name: String {
    let data = FileManager.default.contents(atPath: "\(folder)/comm") ?? Data("?".utf8)
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// The value of KVO_SOCKET that asks for a socket.
  var setting: String? {
    guard let value = environment["KVO_SOCKET"], value != "", value != "0" else { return nil }
    return value
  }

  /// Where its socket may be, the most likely first. `CShim/src/serving/address.c` decides where it is.
  var sockets: [String] {
    let usual =
      [environment["XDG_RUNTIME_DIR"]].compactMap { $0 }.filter { $0.hasPrefix("/") }.map { "\($0)/kvo-\(pid).sock" }
      + ["/tmp/kvo-\(user)/\(pid).sock"]
    guard let setting, setting != "1" else { return usual }
    if setting.hasSuffix("/") { return [setting + "kvo-\(pid).sock"] }
    return ["\(setting)/kvo-\(pid).sock", setting.replacingOccurrences(of: "%p", with: "\(pid)")]
  }

  /// Why it has no socket.
  var whyNot: LiveError {
    if let setting {
      return LiveError(
        "silent",
        """
        Process \(pid) (\(name)) was started with KVO_SOCKET=\(setting), but has no socket: it has not observed anything \
        yet, or its libkvo has none (it says so on standard error, or was built without diagnostics).
        """)
    }
    // Not its arguments: they may hold a password, and this text goes into logs and issues.
    guard let words = Self.words("\(folder)/cmdline"), let command = words.first else {
      return LiveError("absent", "Process \(pid) (\(name)) has ended, or is the kernel's.")
    }
    return LiveError(
      "off",
      """
      Process \(pid) (\(name)) was not started with KVO_SOCKET. Start it so:
        KVO_SOCKET=1 \(Self.quoted(command))\(words.count > 1 ? " …" : "")
      """)
  }

  private static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy {
      CharacterSet.alphanumerics.contains($0) || "-_./=:,+@%".unicodeScalars.contains($0)
    }
    return plain && !word.isEmpty ? word : "'" + word.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
  }
}
