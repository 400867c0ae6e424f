// A process of the machine. Only the host's list retains the object, so it is deallocated when the process is gone.
import KeyValueObserving

@KeyValueObservable
package final class HostProcess {
  package let pid: Int32
  package let startTime: UInt64
  package var name: String
  package var state: String
  package var residentBytes: Int64
  /// The process's fraction of the machine's CPU time (all cores) since the last sample, from 0 to 1.
  package var cpuShare = 0.0
  /// The CPU time at the last sample.
  @NotObserved var ticks: UInt64

  /// The data for events, which outlive the object.
  package var summary: ProcessSummary { ProcessSummary(pid: pid, name: name) }

  init(_ stat: ProcessStat, residentBytes: Int64) {
    pid = stat.pid
    startTime = stat.startTime
    name = stat.name
    state = stat.state
    self.residentBytes = residentBytes
    ticks = stat.ticks
  }
}

package struct ProcessSummary: Equatable, Codable, Sendable {
  package let pid: Int32
  package let name: String
}
