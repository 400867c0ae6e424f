// The table: order, filter and selection, and which changes its observers are told of.
import HostModel
import KeyValueObserving
import KeyValueObservingTesting
import ProcFixture
import Testing

@testable import MonitorModel

@MainActor
@Suite struct `The table of processes` {
  let fixture: ProcFixture
  let monitor: Monitor
  var table: ProcessTable { monitor.table }
  var pids: [Int32] { table.rows.map(\.pid) }

  init() throws {
    fixture = try ProcFixture()
    try fixture.writeSystem()
    try fixture.writeProcess(10, "zsh", pages: 5)
    try fixture.writeProcess(11, "bash", pages: 9)
    try fixture.writeProcess(112, "Apache", pages: 7)
    monitor = Monitor(folder: fixture.folder)
    monitor.sample()
  }

  @Test func `Rows are in the order of the column, and in the other direction if it is chosen again`() {
    table.sort(by: .memory)
    #expect(pids == [11, 112, 10])
    table.sort(by: .memory)
    #expect(pids == [10, 112, 11])
    table.sort(by: .name)
    #expect(pids == [112, 11, 10])
    table.sort(by: .pid)
    #expect(pids == [10, 11, 112])
  }

  @Test func `A new order is one change of the rows`() {
    let recorder = ChangeRecorder(table, \.rows)
    table.sort(by: .name)
    #expect(recorder.changes.count == 1)
    table.filter = "sh"
    #expect(recorder.changes.count == 2)
  }

  @Test func `A sample is one change of the rows, after the properties of the processes`() throws {
    let process = try #require(table.rows.first { $0.pid == 10 })
    let recorder = ChangeRecorder(process, \.residentBytes)
    recorder.record(table, \.rows)
    try fixture.writeProcess(10, "zsh", pages: 50)
    monitor.sample()
    #expect(recorder.changes.map(\.keyPath) == ["residentBytes", "rows"])
    #expect(pids.contains(10))
  }

  @Test func `A filter finds parts of names in any case, and beginnings of PIDs`() {
    table.filter = "SH"
    #expect(Set(pids) == [10, 11])
    table.filter = "11"
    #expect(Set(pids) == [11, 112])
    expectChanges(of: table, \.title, [("2 of 3 processes", "3 processes")]) { table.filter = "" }
  }

  @Test func `The selection stays with its process when the order changes`() {
    table.sort(by: .pid)
    table.moveSelection(by: 1)
    #expect(table.selection?.pid == 10)
    expectChanges(of: table, \.selectedIndex, [2]) { table.sort(by: .pid) }
    #expect(table.selection?.pid == 10)
    table.moveSelection(by: -100)
    #expect(table.selection?.pid == 112)
    #expect(!table.select(pid: 5))
    #expect(table.select(pid: 11))
    #expect(table.selectedIndex == 1)
  }

  @Test func `When the selected process ends, its object dies, and the one in its place is selected`() throws {
    table.sort(by: .pid)
    #expect(table.select(pid: 11))
    weak let process = table.selection
    try fixture.remove("11")
    monitor.sample()
    #expect(process == nil)
    #expect(table.selection?.pid == 112)
    #expect(monitor.detail.title == "Apache")
    try fixture.remove("112")
    monitor.sample()
    #expect(table.selection?.pid == 10)
  }

  @Test func `A selected process that the filter hides is not in the rows, and another one is selected`() {
    #expect(table.select(pid: 112))
    table.filter = "bash"
    #expect(table.selection?.pid == 11)
    table.filter = "no such process"
    #expect(table.rows.isEmpty && table.selectedIndex == nil)
    table.moveSelection(by: 1)
  }
}
