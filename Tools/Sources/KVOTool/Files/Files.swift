// The files that a command reads and writes, with errors that say what is wrong with the path.
import Foundation

/// Where a command writes: a file, or standard output for none and for "-".
package enum OutputFile {
  /// Says why a path cannot be written, before the work is done whose result it is to receive. `inputs` are the files that the command
  /// reads: writing over one of them would lose it.
  package static func check(_ path: String?, inputs: [String] = []) throws {
    guard let path, path != "-" else { return }
    var isThere = stat()
    if stat(path, &isThere) == 0 {
      if isThere.st_mode & S_IFMT == S_IFDIR { throw failure(path, "it is a folder") }
      for input in inputs {
        var read = stat()
        guard stat(input, &read) == 0, read.st_dev == isThere.st_dev, read.st_ino == isThere.st_ino else { continue }
        throw failure(path, path == input ? "it is the file to read" : "it is the file to read, \(input)")
      }
      if access(path, W_OK) != 0 { throw failure(path, reason(errno, path)) }
      return
    }
    // The name of a folder has a slash at its end.
    if errno != ENOENT || path.hasSuffix("/") || path.isEmpty { throw failure(path, reason(errno, path)) }
    if access(folder(of: path), W_OK | X_OK) != 0 { throw failure(path, reason(errno, path)) }
  }

  package static func write(_ data: Data, to path: String?) throws {
    let isStandard = path == nil || path == "-"
    let name = isStandard ? "standard output" : path!
    let file = isStandard ? STDOUT_FILENO : open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(name, reason(errno, name)) }
    defer { if !isStandard { close(file) } }
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { throw failure(name, reason(errno, name)) }
        rest = rest.dropFirst(count)
      }
    }
  }

  private static func failure(_ path: String, _ reason: String) -> LiveError {
    LiveError("file", "Cannot write \(path): \(reason).")
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// What an error number means for a path.
  static func reason(_ error: Int32, _ path: String) -> String {
    switch error {
    case ENOENT:
      var isThere = stat()
      let folder = folder(of: path)
      return stat(folder, &isThere) == 0 ? "there is no such file" : "there is no folder \(folder)"
    case EISDIR: return "it is a folder"
    case ENOTDIR: return "\(folder(of: path)) is no folder"
    case EACCES, EPERM: return "this user may not"
    default: return String(cString: strerror(error))
    }
  }
}

/// What a command reads.
enum InputFile {
  /// Returns the content of a file, of standard input for "-".
  static func read(_ path: String) throws -> Data {
    func failure() -> ViewFailure {
      ViewFailure(description: "\(path) cannot be read: \(OutputFile.reason(errno, path))")
    }
    let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure() }
    defer { if path != "-" { close(file) } }
    var content = Data()
    var block = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = Glibc.read(file, &block, block.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw failure() }
      if count == 0 { return content }
      content.append(contentsOf: block.prefix(count))
    }
  }
}
