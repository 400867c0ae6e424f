// A run with a fixture, and the reports of its observers.
import Foundation
import KeyValueObserving
import ProcFixture
import Testing

@testable import HostModel
@testable import HostReport

@Suite struct `Watching` {
  let fixture: ProcFixture
  let host = Machine()
  let sampler: Sampler
  let output = Seen()
  let warnings = Seen()

  init() throws {
    fixture = try ProcFixture()
    try fixture.writeSystem()
    sampler = Sampler(host, folder: fixture.folder)
  }

  private func journal(_ format: Journal.Format) -> Journal {
    Journal(format, write: { [output] in output.add($0) }, warn: { [warnings] in warnings.add($0) })
  }

  @Test func `A token ends with its object, without a fault`() throws {
    try fixture.writeProcess(10, "nap")
    sampler.sample()
    weak let process = host.processes.first
    let journal = self.journal(.json)
    let token = try #require(process).observeUntilItDies(journal)
    #expect(output.take().count == 1)
    try fixture.remove("10")
    sampler.sample()
    #expect(process == nil)
    #expect(try events(output.take()) == ["ended"])
    token.invalidate()  // has no effect any more
    #expect(journal.notifications == 1)
  }

  @Test func `The deallocation of the process in the spotlight is detected by key path and by token`() throws {
    try fixture.writeProcess(10, "nap")
    let watch = Watch(host, journal(.json))
    sampler.spotlightPID = 10
    sampler.sample()
    try fixture.remove("10")
    _ = output.take()
    sampler.sample()
    let ends = try events(output.take()).filter { ["removal", "gone", "ended"].contains($0) }
    #expect(Set(ends) == ["removal", "gone", "ended"])
    #expect(ends.count == 3)
    #expect(host.spotlight == nil)
    withExtendedLifetime(watch) {}
  }

  @Test func `The classic observer records the peak of used memory`() throws {
    let watch = Watch(host, journal(.json))
    for available in [750, 200, 900] {
      try fixture.writeMemory(availableKilobytes: available)
      sampler.sample()
    }
    #expect(watch.peak == PeakMemory.Peak(bytes: 800 * 1024, fraction: 0.8))
  }

  @Test func `Watching ends with the watch, and nothing stays registered`() {
    var watch: Watch? = Watch(host, journal(.json))
    #expect(watch != nil && host.observationInfo != nil)
    watch = nil
    #expect(host.observationInfo == nil)
    sampler.sample()
    #expect(output.take() == [])
  }

  @Test func `Each line of JSON is an object with its event and its time`() throws {
    try fixture.writeProcess(10, "na\"p\n\\")
    try fixture.remove("uptime")
    let watch = Watch(host, journal(.json))
    sampler.sample()
    let lines = output.take()
    let names = try events(lines)
    #expect(names.contains("memory") && names.contains("insertion") && names.last == "sample")
    #expect(names.filter { $0 == "unreadable" }.count == 1)
    #expect(warnings.lines.count == 1)
    let insertion = try #require(lines.first { $0.contains("\"insertion\"") })
    #expect(insertion.contains(#"{"name":"na\"p\n\\","pid":10}"#))
    withExtendedLifetime(watch) {}
  }

  @Test func `Human-readable output has one line per change, and the number of processes without one`() throws {
    for pid in 1...20 { try fixture.writeProcess(pid) }
    let watch = Watch(host, journal(.human))
    sampler.sample()
    #expect(output.take().contains { $0.hasSuffix("process   20 at the start") })
    sampler.sample()
    #expect(output.take().filter { !$0.contains("cpu") } == [])  // nothing changed
    for pid in 21...40 { try fixture.writeProcess(pid, "e\u{1B}[2J\n") }
    sampler.sample()
    let lines = output.take().filter { $0.contains("process") }
    #expect(lines.count == HumanLines.processLimit + 1)
    #expect(lines.first?.hasSuffix("+ e\\u{1b}[2J\\u{a} (pid 21)") == true)
    #expect(lines.last?.hasSuffix("+ … and 14 more") == true)
    withExtendedLifetime(watch) {}
  }

  private func events(_ lines: [String]) throws -> [String] {
    try lines.map { line in
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["elapsed"] is Double)
      return try #require(object["event"] as? String)
    }
  }
}

@Suite struct `Options` {
  @Test(arguments: [
    ["--seconds", "0"], ["--seconds", "-1"], ["--seconds", "nan"], ["--seconds", "1e9"], ["--seconds", "x"],
    ["--interval", "0"], ["--interval", "inf"], ["--seconds", "1", "--interval", "2"],
  ])
  func `Invalid times are rejected`(arguments: [String]) {
    #expect(throws: (any Error).self) { try Hostwatch.parse(arguments) }
  }

  @Test func `Fractions of a second are allowed`() throws {
    let command = try Hostwatch.parse(["--seconds", "0.5", "--interval", "0.05", "--json"])
    #expect(command.seconds == 0.5 && command.interval == 0.05 && command.json)
  }
}
