// The sampler with a folder that the tests change, and the notifications that observers of the model receive.
import Glibc
import KeyValueObserving
import ProcFixture
import Synchronization
import Testing

@testable import HostModel

/// A thread-safe log of notifications.
final class Seen: Sendable {
  private let all = Mutex<[String]>([])

  var lines: [String] { all.withLock { $0 } }
  func add(_ line: String) { all.withLock { $0.append(line) } }
  /// Returns the lines since the last call.
  func take() -> [String] {
    all.withLock { all in
      defer { all = [] }
      return all
    }
  }
}

@Suite struct `Sampling` {
  let fixture: ProcFixture
  let host = Machine()
  let sampler: Sampler
  let seen = Seen()

  init() throws {
    fixture = try ProcFixture()
    try fixture.writeSystem()
    sampler = Sampler(host, folder: fixture.folder)
  }

  private func observeProcesses() -> NSKeyValueObservation {
    host.observe(\.processes, options: [.old, .new]) { [seen] _, change in
      let (new, old) = ((change.newValue ?? []).map(\.name), (change.oldValue ?? []).map(\.name))
      seen.add("\(change.kind) \(change.indexes.map(Array.init) ?? []) -\(old) +\(new)")
    }
  }

  @Test func `One sample fills the model`() throws {
    try fixture.writeProcess(3, "init")
    sampler.sample()
    #expect(host.name == "box")
    #expect(host.uptime == 100.5)
    #expect(host.load == LoadAverages(loadavg: "0.1 0.2 0.3"))
    #expect(host.memory?.usedFraction == 0.25)
    #expect(host.cpus.map(\.core) == [0, 1])
    #expect(host.processes.map(\.name) == ["init"])
    #expect(host.samples == 1)
    #expect(host.problems == [])
    #expect(sampler.hasRead)
  }

  @Test func `New processes are one insertion, with the indexes afterwards`() throws {
    for pid in [10, 20, 30] { try fixture.writeProcess(pid, "p\(pid)") }
    let token = observeProcesses()
    defer { token.invalidate() }
    sampler.sample()
    #expect(seen.take() == [#"insertion [0, 1, 2] -[] +["p10", "p20", "p30"]"#])
    for pid in [5, 25, 40] { try fixture.writeProcess(pid, "p\(pid)") }
    sampler.sample()
    #expect(seen.take() == [#"insertion [0, 3, 5] -[] +["p5", "p25", "p40"]"#])
    #expect(host.processes.map(\.pid) == [5, 10, 20, 25, 30, 40])
  }

  @Test func `Ended processes are one removal, with the indexes before`() throws {
    for pid in [10, 20, 30, 40] { try fixture.writeProcess(pid, "p\(pid)") }
    sampler.sample()
    let token = observeProcesses()
    defer { token.invalidate() }
    for pid in [10, 30] { try fixture.remove("\(pid)") }
    sampler.sample()
    #expect(seen.take() == [#"removal [0, 2] -["p10", "p30"] +[]"#])
    sampler.sample()
    #expect(seen.take() == [])
  }

  @Test func `A reused PID is another process`() throws {
    try fixture.writeProcess(10, "old", start: 1)
    sampler.sample()
    let token = observeProcesses()
    defer { token.invalidate() }
    try fixture.writeProcess(10, "new", start: 2)
    sampler.sample()
    #expect(seen.take() == [#"removal [0] -["old"] +[]"#, #"insertion [0] -[] +["new"]"#])
  }

  @Test func `A process that still runs keeps its object and its observers`() throws {
    try fixture.writeProcess(10, ticks: 0, pages: 1)
    sampler.sample()
    let process = try #require(host.processes.first)
    let token = process.observe(\.cpuShare, options: .new) { [seen] _, change in seen.add("\(change.newValue ?? -1)")
    }
    defer { token.invalidate() }
    try fixture.writeProcess(10, ticks: 50, pages: 3)
    try fixture.writeCores(busy: 30, idle: 70)
    sampler.sample()
    #expect(seen.take() == ["0.25"])  // 50 of the 2 * 100 ticks of both cores
    #expect(host.processes.first === process)
    #expect(process.residentBytes % 3 == 0 && process.residentBytes > 0)
  }

  @Test func `The machine's busy fraction depends on its cores`() throws {
    sampler.sample()
    let token = host.observe(\.busyFraction, options: .new) { [seen] _, change in
      seen.add("\((change.newValue ?? nil) ?? -1)")
    }
    defer { token.invalidate() }
    try fixture.writeCores(busy: 50, idle: 50)
    sampler.sample()
    #expect(seen.take() == ["0.25", "0.5"])  // one core after the other
  }

  @Test func `When a core goes offline the others keep their objects`() throws {
    sampler.sample()
    let first = try #require(host.cpus.first)
    try fixture.write("stat", "cpu0 1 0 0 1\n")
    sampler.sample()
    #expect(host.cpus.count == 1)
    #expect(host.cpus.first === first)
  }

  @Test func `An unreadable file is reported once, and the rest is sampled`() throws {
    try fixture.writeProcess(10)
    try fixture.makeUnreadable("11/stat")
    try fixture.makeUnreadable("12/stat")
    try fixture.makeUnreadable("meminfo")
    try fixture.write("loadavg", "?")
    let token = host.observe(\.problems, options: .new) { [seen] _, change in
      for problem in change.newValue ?? [] {
        seen.add("\(change.kind) \(problem.path.split(separator: "/").last ?? "") \(problem.reason)")
      }
    }
    defer { token.invalidate() }
    sampler.sample()
    sampler.sample()
    #expect(
      seen.take() == [
        "insertion loadavg not understood", "insertion meminfo Is a directory", "insertion stat Is a directory",
      ])
    #expect(host.problems.last?.path == fixture.folder.path + "/<pid>/stat")
    #expect(host.memory == nil)
    #expect(host.uptime == 100.5)
    #expect(host.processes.map(\.pid) == [10])
  }

  @Test func `A process that vanishes while it is read is normal`() throws {
    try fixture.writeProcess(10)
    try fixture.write("11/status", "")  // a folder whose stat has vanished
    sampler.sample()
    #expect(host.processes.map(\.pid) == [10])
    #expect(host.problems == [])
  }

  @Test func `A process without statm has the size in stat`() throws {
    try fixture.writeProcess(10)
    try fixture.remove("10/statm")
    sampler.sample()
    #expect(host.processes.first?.residentBytes == Int64(3 * sysconf(Int32(_SC_PAGESIZE))))
  }

  @Test func `A folder that does not exist results in an empty model`() {
    let sampler = Sampler(host, folder: ProcFolder(path: fixture.folder.path + "/none"))
    sampler.sample()
    #expect(!sampler.hasRead)
    #expect(host.problems.count == 6)
    #expect(host.problems.last?.path == fixture.folder.path + "/none")
  }
}
