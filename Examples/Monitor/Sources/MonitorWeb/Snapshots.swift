// What the page is sent: values that leave the main actor, and the sources that make them of the model.
import HostModel
import KeyValueObserving
import MonitorModel

struct MachineSnapshot: Encodable, Sendable {
  let name: String
  let uptime: String
  let load: [Double]
  let busy: Double
  let cores: Int
  let memory: String
  let problem: String?

  init(_ host: Machine) {
    name = host.name ?? "?"
    uptime = host.uptime.map(duration) ?? "?"
    load = host.load.map { [$0.one, $0.five, $0.fifteen] } ?? []
    busy = host.busyFraction ?? 0
    cores = host.cpus.count
    memory = host.memory.map { "\(size($0.used)) of \(size($0.total)) (\(decimal($0.usedFraction * 100, 1)) %)" } ?? "?"
    problem = host.problems.last.map { "cannot read \($0.path): \($0.reason)" }
  }
}

struct TableSnapshot: Encodable, Sendable {
  struct Row: Encodable, Sendable {
    let pid: Int32
    let state: String
    let cpu: Double
    let memory: String
    let name: String
  }

  let title: String
  let order: ProcessTable.Order
  let filter: String
  let selected: Int32?
  let rows: [Row]
}

struct DetailSnapshot: Encodable, Sendable {
  let title: String
  let state: String
  let cpu: String
  let memory: String
  let commandLine: String
}

struct StateSnapshot: Encodable, Sendable {
  let machine: MachineSnapshot
  let table: TableSnapshot
  let detail: DetailSnapshot
}

struct InspectorSnapshot: Encodable, Sendable {
  let observations: [Observed]
  let sample: RecordedSample?
  let calls: Int
  let changes: Int
  let microseconds: Double
  let problem: String?
}

extension Monitor {
  /// An expression: what it reads is found by the runtime, and it is evaluated again when any of that changes.
  var machineSource: KeyValueSource<MachineSnapshot> {
    KeyValueSource { [host] in MachineSnapshot(host) }
  }

  /// The rows are read outside of an expression: one that read each process would depend on all their properties.
  var tableSource: KeyValueSource<TableSnapshot> {
    KeyValueSource.combineLatest(
      table.source(\.rows), table.source(\.title), table.source(\.filter), table.source(\.selection?.pid),
      table.source(\.order)
    ) { rows, title, filter, selected, order in
      TableSnapshot(
        title: title, order: order, filter: filter, selected: selected,
        rows: rows.map {
          TableSnapshot.Row(
            pid: $0.pid, state: $0.state, cpu: $0.cpuShare, memory: size($0.residentBytes), name: printable($0.name))
        })
    }
  }

  var detailSource: KeyValueSource<DetailSnapshot> {
    KeyValueSource { [detail] in
      DetailSnapshot(
        title: detail.title, state: detail.state, cpu: detail.cpu, memory: detail.memory,
        commandLine: detail.commandLine)
    }
  }

  var inspectorSource: KeyValueSource<InspectorSnapshot> {
    KeyValueSource { [inspector] in
      let sample = inspector.sample
      return InspectorSnapshot(
        observations: inspector.observations, sample: sample, calls: sample?.calls ?? 0, changes: sample?.changes ?? 0,
        microseconds: sample?.microseconds ?? 0, problem: inspector.problem)
    }
  }
}
