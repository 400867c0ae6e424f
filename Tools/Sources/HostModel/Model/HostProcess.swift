// A process of the machine. The object dies when the process is gone: only the list of the host holds it.
import KeyValueObserving

@KeyValueObservable
final class HostProcess {
  let pid: Int32
  let startTime: UInt64
  var name: String
  var state: String
  var residentBytes: Int64
  /// The part of the machine's CPU time since the last sample, all cores together, 0 to 1.
  var cpuShare = 0.0
  /// The time used up at the last sample.
  @NotObserved var ticks: UInt64

  /// What stays of it in events, which outlive the object.
  var summary: ProcessSummary { ProcessSummary(pid: pid, name: name) }

  init(_ stat: ProcessStat, residentBytes: Int64) {
    pid = stat.pid
    startTime = stat.startTime
    name = stat.name
    state = stat.state
    self.residentBytes = residentBytes
    ticks = stat.ticks
  }
}

struct ProcessSummary: Equatable, Codable, Sendable {
  let pid: Int32
  let name: String
}
