// One side of a comparison: ours or a peer's, measured one turn at a time.

import Foundation
import Rows

/// Returns the nanoseconds for a number of operations.
typealias Timing = (_ count: Int) -> Double

struct Side {
  private let time: Timing
  private let count: Int

  /// Finds the number of operations in a turn, which also warms up the code.
  init(limit: Int = .max, turnNanoseconds: Double = 7e6, _ time: @escaping Timing) {
    var count = min(16, limit)
    var duration = time(count)
    while duration < turnNanoseconds / 8, count < limit {
      count = min(count * 4, limit)
      duration = time(count)
    }
    self.time = time
    // A multiple of four, because the loops are unrolled four times.
    self.count = min(limit, max(4, Int(Double(count) * turnNanoseconds / duration) & ~3))
    _ = turn()
  }

  private init(exactly count: Int, _ time: @escaping Timing) {
    (self.time, self.count) = (time, count)
    _ = turn()
  }

  init(_ workload: Workload, turnNanoseconds: Double) {
    func time(_ count: Int) -> Double {
      workload.prepare(count)
      return nanoseconds { workload.run(count) }
    }
    if let exactly = workload.exactly {
      self.init(exactly: exactly, time)
    } else {
      self.init(limit: workload.limit, turnNanoseconds: turnNanoseconds, time)
    }
  }

  init(_ peer: Peer, turnNanoseconds: Double) {
    switch peer.side {
    case .here(let make): self.init(make(), turnNanoseconds: turnNanoseconds)
    case .program(let name, let row):
      let program = PeerProgram(name)
      // Limited, because prepared operations take memory.
      self.init(limit: 1_000_000, turnNanoseconds: turnNanoseconds) { program.nanoseconds(row, $0) }
    }
  }

  /// Returns the nanoseconds per operation.
  func turn() -> Double { time(count) / Double(count) }
}

func nanoseconds(_ body: () -> Void) -> Double { Rows.nanoseconds(ContinuousClock().measure(body)) }
