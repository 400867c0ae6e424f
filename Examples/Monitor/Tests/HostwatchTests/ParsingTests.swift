// The parsers with regular, old, damaged and malicious files.
import ProcFixture
import Testing

@testable import HostModel

@Suite struct `Files about the machine` {
  @Test func `The load averages are the first three numbers`() {
    let load = LoadAverages(loadavg: "0.52 0.58 12.59 1/467 12345\n")
    #expect(load.map { [$0.one, $0.five, $0.fifteen] } == [0.52, 0.58, 12.59])
  }

  @Test(arguments: ["", "0.1 0.2", "a b c", "nan 0 0", "0.1 x 0.2"])
  func `Load averages that are not numbers are rejected`(text: String) {
    #expect(LoadAverages(loadavg: text) == nil)
  }

  @Test func `The uptime is the first number`() {
    #expect(uptime(of: "12345.67 54321.00\n") == 12345.67)
    #expect(uptime(of: "\n") == nil)
    #expect(uptime(of: "inf 1") == nil)
  }

  @Test func `Memory in kB is counted in bytes`() {
    let figures = MemoryFigures(meminfo: "MemTotal:  16316412 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n")
    #expect(figures?.total == Int64(16_316_412 * 1024))
    #expect(figures?.available == Int64(8_000_000 * 1024))
  }

  @Test func `An old kernel's available memory is estimated`() {
    let figures = MemoryFigures(meminfo: "MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 5 kB\nCached: 20 kB\n")
    #expect(figures?.available == Int64(35 * 1024))
  }

  @Test func `Available memory is never more than there is`() {
    #expect(MemoryFigures(meminfo: "MemTotal: 100 kB\nMemAvailable: 200 kB\n")?.available == Int64(100 * 1024))
  }

  @Test(arguments: [
    "", "MemTotal", "MemTotal: 100 kB", "MemTotal: x kB\nMemAvailable: 1 kB", "MemTotal: 0 kB\nMemAvailable: 0 kB",
    "MemTotal: 100 parsecs\nMemAvailable: 1 kB", "MemTotal: 9223372036854775807 kB\nMemAvailable: 1 kB",
    "MemTotal: -5 kB\nMemAvailable: 1 kB",
  ])
  func `Invalid memory sizes are rejected`(text: String) {
    #expect(MemoryFigures(meminfo: text) == nil)
  }

  @Test func `Waiting for a device counts as idle, and guests are not counted twice`() {
    let cores = CPUTicks.cores(stat: "cpu  9 9 9 9\ncpu0 10 1 2 30 7 1 1 1 10 10\ncpu12 1 0 0 4\nintr 5\n")
    #expect(cores == [0: CPUTicks(busy: 16, total: 53), 12: CPUTicks(busy: 1, total: 5)])
  }

  @Test(arguments: ["", "cpu 1 2 3 4\n", "cpu0 1 2\n", "cpux 1 2 3 4\n", "cpu-1 1 2 3 4\n"])
  func `A file without cores is rejected`(text: String) {
    #expect(CPUTicks.cores(stat: text) == nil)
  }

  @Test func `Decreasing counters give no difference`() {
    #expect(CPUTicks(busy: 1, total: 5).since(CPUTicks(busy: 2, total: 6)) == nil)
    #expect(CPUTicks(busy: 3, total: 9).since(CPUTicks(busy: 2, total: 6)) == CPUTicks(busy: 1, total: 3))
  }
}

@Suite struct `Files about a process` {
  @Test(arguments: ["sh", "Web Content", "(sd-pam)", "a) S 1 (b", "))((", "", "two\nlines", "kworker/0:1-ev"])
  func `A name may contain any characters`(name: String) throws {
    let stat = try #require(ProcessStat(Array(statLine(pid: 42, name: name, ticks: 5, start: 99).utf8)))
    #expect(stat.name == name)
    #expect(stat.pid == 42)
    #expect(stat.state == "S")
    #expect(stat.ticks == 5)
    #expect(stat.startTime == 99)
    #expect(stat.residentPages == 3)
  }

  @Test func `A name that is not UTF-8 keeps its valid parts`() throws {
    let line = Array("7 (caf".utf8) + [0xE9, 0xFF] + Array(statLine(pid: 7, name: "").utf8.drop { $0 != 0x29 })
    #expect(try #require(ProcessStat(line)).name == "caf\u{FFFD}\u{FFFD}")
  }

  @Test(arguments: ["", "42", "42 (sh", "42 sh) S", ")(", "42 (sh)", "42 (sh) S 1 2 3", "x (sh) S 1", "(sh) S 1"])
  func `A truncated line is rejected`(line: String) {
    #expect(ProcessStat(Array(line.utf8)) == nil)
  }

  @Test func `The number of resident pages is the second number`() {
    #expect(residentPages(statm: "900 120 3 4 0 5 0\n") == 120)
    #expect(residentPages(statm: "900") == nil)
    #expect(residentPages(statm: "900 -1") == nil)
  }
}
