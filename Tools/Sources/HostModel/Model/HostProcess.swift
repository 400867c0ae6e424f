// A process of the machine. Only the host's list retains the object, so it is deallocated when the process is gone.
import KeyValueObserving

@KeyValueObservable
final class HostProcess {
  let pid: Int32
  let startTime: UInt64
  var name: String
  var state: String
  var residentBytes: Int64
  /// The process's fraction of the machine's CPU time (all cores) since the last sample, from 0 to 1.
  var cpuShare = 0.0
  /// The CPU time at the last sample.
  @NotObserved var ticks: UInt64

  /// The data for events, which outlive the object.
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
