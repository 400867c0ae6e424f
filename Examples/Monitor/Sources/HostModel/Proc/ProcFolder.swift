// Reads files of /proc, or of a folder with the same structure, as bytes, with the system's error message on failure.
import Foundation
import Glibc

/// The reason why a file cannot be used.
package struct ProcError: Error, Equatable {
  /// The path relative to the folder; empty for the folder itself.
  let path: String
  let reason: String
  /// Whether the process ended while it was read, which is normal.
  let isVanished: Bool

  init(path: String, errno code: Int32) {
    self.path = path
    reason = String(cString: strerror(code))
    isVanished = code == ENOENT || code == ESRCH
  }

  init(malformed path: String) {
    self.path = path
    reason = "not understood"
    isVanished = false
  }
}

package struct ProcFolder: Sendable {
  package let path: String

  package init(path: String = "/proc") { self.path = path }

  /// Returns the content of a file. It is read in a loop, because /proc reports every size as 0.
  package func bytes(of file: String) throws(ProcError) -> [UInt8] {
    let descriptor = open(path + "/" + file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ProcError(path: file, errno: errno) }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count > 0 {
        content.append(contentsOf: chunk[..<count])
      } else if count == 0 {
        return content
      } else if errno != EINTR {
        throw ProcError(path: file, errno: errno)
      }
    }
  }

  /// Returns the content as text. Names may contain any bytes; invalid UTF-8 becomes U+FFFD.
  func text(of file: String) throws(ProcError) -> String { String(decoding: try bytes(of: file), as: UTF8.self) }

  /// Returns the PIDs of the process folders, in ascending order.
  func pids() throws(ProcError) -> [Int32] {
    guard let folder = opendir(path) else { throw ProcError(path: "", errno: errno) }
    defer { closedir(folder) }
    var pids: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let pid = Int32(name), pid > 0 { pids.append(pid) }
    }
    return pids.sorted()
  }
}
