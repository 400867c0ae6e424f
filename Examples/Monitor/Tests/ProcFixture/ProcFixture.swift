// A temporary folder with the structure of /proc, which is removed with the object.
import Foundation
import HostModel

package final class ProcFixture {
  package let folder: ProcFolder
  private let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("proc-\(UUID().uuidString)")
    folder = ProcFolder(path: url.path)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func write(_ file: String, _ text: String) throws { try write(file, Array(text.utf8)) }

  package func write(_ file: String, _ bytes: [UInt8]) throws {
    let target = url.appendingPathComponent(file)
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: target)
  }

  /// Makes a file unreadable, also for root, by replacing it with a folder.
  package func makeUnreadable(_ file: String) throws {
    try? remove(file)
    try FileManager.default.createDirectory(
      at: url.appendingPathComponent(file), withIntermediateDirectories: true)
  }

  package func remove(_ file: String) throws {
    try FileManager.default.removeItem(at: url.appendingPathComponent(file))
  }

  /// Writes all files about the machine.
  package func writeSystem() throws {
    try write("sys/kernel/hostname", "box\n")
    try write("uptime", "100.50 50.00\n")
    try write("loadavg", "0.10 0.20 0.30 1/2 3\n")
    try writeMemory(availableKilobytes: 750)
    try writeCores(busy: 0, idle: 0)
  }

  package func writeMemory(availableKilobytes: Int) throws {
    try write("meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: \(availableKilobytes) kB\n")
  }

  /// Writes two cores with the same counters.
  package func writeCores(busy: Int, idle: Int) throws {
    let counters = "\(busy) 0 0 \(idle) 0 0 0 0 0 0"
    try write("stat", "cpu  \(counters)\ncpu0 \(counters)\ncpu1 \(counters)\nintr 1 2 3\n")
  }

  package func writeProcess(_ pid: Int, _ name: String = "sh", ticks: Int = 0, start: Int = 7, pages: Int = 2) throws {
    try write("\(pid)/stat", statLine(pid: pid, name: name, ticks: ticks, start: start))
    try write("\(pid)/statm", "9 \(pages) 1 1 0 1 0\n")
  }
}

/// Returns a line of /proc/<pid>/stat with all the fields that are read.
package func statLine(pid: Int, name: String, ticks: Int = 0, start: Int = 7) -> String {
  "\(pid) (\(name)) S 1 1 1 0 -1 0 0 0 0 0 \(ticks) 0 0 0 20 0 1 0 \(start) 4096 3 0\n"
}
