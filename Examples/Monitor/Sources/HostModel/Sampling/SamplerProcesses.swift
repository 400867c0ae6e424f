// The process list of the sampler, matched with that of the previous sample.
import Foundation
import Glibc

extension Sampler {
  func sampleProcesses() {
    let pids: [Int32]
    do throws(ProcError) { pids = try folder.pids() } catch { return tell(error) }
    // It is normal that a process ends between listing and reading.
    let found = pids.compactMap(readProcess)
    guard !found.isEmpty else {
      if pids.isEmpty { tell(ProcError(path: "<pid>", errno: ENOENT)) }
      return remove { _ in true }
    }
    noteRead()
    let stats = Dictionary(found.map { ($0.stat.pid, $0) }, uniquingKeysWith: { first, _ in first })
    // The same PID with another start time is another process.
    remove { stats[$0.pid]?.stat.startTime != $0.startTime }
    for process in host.processes {
      if let reading = stats[process.pid] { update(process, reading) }
    }
    let known = Set(host.processes.map(\.pid))
    insert(found.filter { !known.contains($0.stat.pid) })
  }

  private func remove(where isGone: (HostProcess) -> Bool) {
    let indexes = host.processes.indices.filter { isGone(host.processes[$0]) }
    host.removeProcesses(at: IndexSet(indexes))
  }

  /// Inserts new processes. Both lists are sorted by PID, so merging them gives the index of each new process.
  private func insert(_ new: [Reading]) {
    let known = host.processes.map(\.pid)
    var indexes = IndexSet()
    var older = 0
    for (newer, reading) in new.enumerated() {
      while older < known.count, known[older] < reading.stat.pid { older += 1 }
      indexes.insert(older + newer)
    }
    let processes = new.map { HostProcess($0.stat, residentBytes: $0.residentBytes) }
    host.insert(processes, at: indexes)
    if let spotlight = processes.first(where: { $0.pid == spotlightPID }) { set(host, \.spotlight, to: spotlight) }
  }

  private func update(_ process: HostProcess, _ reading: Reading) {
    let stat = reading.stat
    set(process, \.name, to: stat.name)
    set(process, \.state, to: stat.state)
    set(process, \.residentBytes, to: reading.residentBytes)
    set(process, \.cpuShare, to: share(of: stat.ticks >= process.ticks ? stat.ticks - process.ticks : 0))
    process.ticks = stat.ticks
  }

  private func readProcess(_ pid: Int32) -> Reading? {
    do throws(ProcError) {
      guard let stat = ProcessStat(try folder.bytes(of: "\(pid)/stat")) else {
        throw ProcError(malformed: "\(pid)/stat")
      }
      let pages = (try? folder.text(of: "\(pid)/statm")).flatMap(residentPages(statm:)) ?? stat.residentPages
      let (bytes, overflow) = pages.multipliedReportingOverflow(by: pageSize)
      return Reading(stat: stat, residentBytes: overflow ? 0 : max(0, bytes))
    } catch {
      // Many processes may have the same problem; it is reported once for all.
      if !error.isVanished { tell(error, as: "<pid>/stat") }
      return nil
    }
  }
}

/// The data read for one process.
private struct Reading {
  let stat: ProcessStat
  let residentBytes: Int64
}

private let pageSize = Int64(max(1, sysconf(Int32(_SC_PAGESIZE))))
