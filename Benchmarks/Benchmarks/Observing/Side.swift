// One side of a comparison: ours or a peer's, measured one turn at a time.

import Foundation
import Rows

/// How long a turn takes: short, so that turns of both sides see the same machine.
private let turnNanoseconds = 7e6

/// Nanoseconds for so many operations.
typealias Timing = (_ count: Int) -> Double

struct Side {
  private let time: Timing
  private let count: Int

  /// Finds out how many operations make a turn, which also warms up.
  init(limit: Int = .max, _ time: @escaping Timing) {
    var (count, duration) = (16, time(16))
    while duration < turnNanoseconds / 8, count < limit {
      count = min(count * 4, limit)
      duration = time(count)
    }
    self.time = time
    // Loops do four at a time.
    self.count = max(4, min(limit, Int(Double(count) * turnNanoseconds / duration)) & ~3)
    _ = turn()
  }

  init(_ workload: Workload) {
    self.init(limit: workload.limit) { count in
      workload.prepare(count)
      return nanoseconds { workload.run(count) }
    }
  }

  init(_ peer: Peer) {
    switch peer.side {
    case .here(let make): self.init(make())
    case .program(let name, let row):
      let program = PeerProgram(name)
      // What it makes ready takes memory.
      self.init(limit: 1_000_000) { program.nanoseconds(row, $0) }
    }
  }

  /// Nanoseconds an operation.
  func turn() -> Double { time(count) / Double(count) }
}

func nanoseconds(_ body: () -> Void) -> Double { Rows.nanoseconds(ContinuousClock().measure(body)) }
