// Removes the sockets of processes that were killed: one that exits removes its own.
import Foundation

enum LeftSockets {
  /// Looks in the usual folders of this user; `CShim/src/serving/address.c` decides which they are.
  static func remove() {
    remove(in: "/tmp/kvo-\(geteuid())", prefix: "")
    if let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
      remove(in: folder, prefix: "kvo-")
    }
  }

  /// Removes those whose name has the id of a process that does not exist, and to which nobody listens: a process of another container may.
  static func remove(in folder: String, prefix: String) {
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard name.hasPrefix(prefix), name.hasSuffix(".sock"),
        let pid = Int32(name.dropFirst(prefix.count).dropLast(5)), pid > 0, kill(pid, 0) != 0, errno == ESRCH
      else { continue }
      let path = "\(folder)/\(name)"
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(),
        Connection.isLeft(path)
      else { continue }
      unlink(path)
    }
  }
}
