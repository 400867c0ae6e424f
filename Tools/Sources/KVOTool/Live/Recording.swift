// The file in memory into which a program records a trace for the tool. It outlives the program: one that is killed loses little of it.
import Foundation

struct Recording {
  private let descriptor: FileHandle
  /// The program's own name of the file, and what that is a link to.
  private let name, target: String
  private let begun = ContinuousClock.now

  /// Opens the file of the recording that has begun for this connection. Nil if this user may not look at the process's files.
  init?(of connection: Connection) {
    let folder = "/proc/\(connection.peer)/fd"
    var newest: (file: Int32, name: String, target: String, written: timespec)?
    for number in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let name = "\(folder)/\(number)"
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: name),
        target.hasPrefix("/memfd:kvo-trace")
      else { continue }
      let file = open(name, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      var status = stat()
      fstat(file, &status)
      // Another client may not have received the whole of an earlier trace. This one's beginning was written just now.
      let written = status.st_mtim
      if let other = newest, (written.tv_sec, written.tv_nsec) < (other.written.tv_sec, other.written.tv_nsec) {
        close(file)
        continue
      }
      if let newest { close(newest.file) }
      newest = (file, name, target, written)
    }
    guard let newest else { return nil }
    descriptor = FileHandle(fileDescriptor: newest.file, closeOnDealloc: true)
    (name, target) = (newest.name, newest.target)
  }

  var seconds: Double {
    let passed = (ContinuousClock.now - begun).components
    return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
  }

  /// Ends the recording early and returns it. The program writes its last events when the connection ends; a stopped one cannot.
  func end(_ connection: Connection) -> Data {
    connection.end()
    for _ in 0..<400 {
      guard (try? FileManager.default.destinationOfSymbolicLink(atPath: name)) == target else { break }
      usleep(5000)
    }
    return content
  }

  /// What has been recorded. It is a whole list of events at any time.
  private var content: Data {
    try? descriptor.seek(toOffset: 0)
    return (try? descriptor.readToEnd()) ?? Data()
  }
}
