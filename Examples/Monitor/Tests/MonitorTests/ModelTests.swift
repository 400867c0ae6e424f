// Detail, history and inspector, and that nothing of the model outlives it.
import Foundation
import HostModel
import KeyValueObserving
import KeyValueObservingTesting
import ProcFixture
import Testing

@testable import MonitorModel

@MainActor
@Suite struct `The model of the monitor` {
  let fixture: ProcFixture
  let monitor: Monitor

  init() throws {
    fixture = try ProcFixture()
    try fixture.writeSystem()
    try fixture.writeProcess(10, "nap\n", pages: 25)
    try fixture.write("10/cmdline", "/bin/nap\u{0}-s\u{0}\u{1B}[2J\u{0}")
    monitor = Monitor(folder: fixture.folder)
    monitor.sample()
  }

  @Test func `The detail follows the selected process and its properties`() throws {
    let detail = monitor.detail
    #expect(detail.title == "No process is selected" && detail.commandLine == "")
    #expect(monitor.table.select(pid: 10))
    #expect(detail.title == "nap\\u{a}" && detail.state == "sleeping")
    #expect(detail.commandLine == "/bin/nap -s \\u{1b}[2J")
    #expect(detail.memory == "100.0 KiB, 10.0 % of the machine")
    try fixture.writeProcess(10, "nap", pages: 50)
    monitor.sample()
    #expect(detail.title == "nap" && detail.memory == "200.0 KiB, 20.0 % of the machine")
    try fixture.remove("10")
    monitor.sample()
    #expect(detail.title == "No process is selected" && detail.memory == "" && detail.cpu == "")
  }

  @Test func `The history tells which point came and which went`() throws {
    let recorder = ChangeRecorder(monitor.history, \.points)
    for busy in 1...3 {
      try fixture.writeCores(busy: busy, idle: busy)
      monitor.sample()
    }
    #expect(recorder.changes.map(\.indexes) == [[0], [1], [2]])
    #expect(monitor.history.points.map(\.cpu) == [0.5, 0.5, 0.5])
    #expect(monitor.history.points.map(\.memory) == [0.25, 0.25, 0.25])
    for _ in 3..<History.capacity { monitor.sample() }
    recorder.removeAll()
    monitor.sample()
    #expect(recorder.changes.map(\.kind) == [.removal, .insertion])
    #expect(monitor.history.points.count == History.capacity)
  }

  @Test func `While nobody looks, nothing is recorded; then each change is with what it causes`() throws {
    let inspector = monitor.inspector
    #expect(inspector.sample == nil && inspector.observations.isEmpty)
    inspector.viewers += 1
    let recorder = ChangeRecorder(monitor.table, \.rows)
    monitor.sample()
    #expect(recorder.changes.count == 1)
    #expect(inspector.problem == nil)
    let steps = try #require(inspector.sample).steps
    let first = try #require(steps.firstIndex { $0.text == "set Machine.samples" })
    let last = steps[(first + 1)...].firstIndex { $0.depth == 0 } ?? steps.endIndex
    let caused = steps[(first + 1)..<last].map { "\($0.depth) \($0.text.replacing(/:\d+/, with: ""))" }
    #expect(caused.contains("1 observer ProcessTable.swift (samples) ProcessTable"))
    #expect(caused.contains("3 set ProcessTable.rows"))
    #expect(steps[first].microseconds >= steps[first + 1].microseconds)
    let observed = try #require(inspector.observations.first { $0.what == "Machine.samples" && $0.who == "History" })
    // The graph is of the whole process, which may run other tests now.
    #expect(observed.count >= 1 && observed.place.hasPrefix("History.swift:"))
    inspector.viewers -= 1
    let sample = inspector.sample
    monitor.sample()
    #expect(inspector.sample == sample)
  }

  @Test func `While kvo trace records, the monitor shows new samples all the same`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    monitor.inspector.viewers += 1
    try ObservationTrace.begin(writingTo: file.path)
    try fixture.writeProcess(11, "new", pages: 25)
    monitor.sample()
    try ObservationTrace.end()
    #expect(monitor.table.select(pid: 11))
    #expect(monitor.inspector.problem != nil)
    monitor.sample()
    #expect(monitor.inspector.problem == nil && monitor.inspector.sample != nil)
  }

  @Test func `Nothing of a monitor remains after it`() throws {
    weak var table: ProcessTable?
    weak var detail: ProcessDetail?
    expectNoObservations {
      let monitor = Monitor(folder: fixture.folder)
      monitor.sample()
      #expect(monitor.table.select(pid: 10))
      (table, detail) = (monitor.table, monitor.detail)
    }
    #expect(table == nil && detail == nil)
  }
}
