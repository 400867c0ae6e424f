// The cost of a notification on this machine, measured in a separate loop, because in the run reading /proc would be measured too.

import KeyValueObserving
import Synchronization

struct Calibration: Equatable, Codable, Sendable {
  /// The number of sets of one `Int` property with one observer that requests the old and the new value.
  let sets: Int
  /// The time of a set with its notification, including the closure.
  let nanosecondsPerNotification: Double
  /// The time of the same set without an observer.
  let nanosecondsPerUnobservedSet: Double
  /// A debug build measures the missing optimization more than the library.
  var isDebugBuild = _isDebugAssertConfiguration()
}

extension Calibration {
  static func measure(sets: Int = 200_000) -> Calibration {
    let gauge = Gauge()
    let difference = Difference()
    let unobserved = nanosecondsPerCall(sets) { gauge.level = $0 }
    let token = gauge.observe(\.level, options: [.old, .new]) { [difference] _, change in
      difference.last.store((change.newValue ?? 0) - (change.oldValue ?? 0), ordering: .relaxed)
    }
    defer { token.invalidate() }
    _ = nanosecondsPerCall(sets / 10) { gauge.level = $0 }  // warm up
    let observed = nanosecondsPerCall(sets) { gauge.level = $0 }
    return Calibration(
      sets: sets, nanosecondsPerNotification: observed, nanosecondsPerUnobservedSet: unobserved)
  }

  private static func nanosecondsPerCall(_ count: Int, _ body: (Int) -> Void) -> Double {
    let duration = ContinuousClock().measure { for index in 0..<count { body(index) } }
    let nanoseconds = Double(duration.components.attoseconds) / 1e9 + Double(duration.components.seconds) * 1e9
    return (nanoseconds / Double(max(1, count)) * 100).rounded() / 100
  }
}

@KeyValueObservable
private final class Gauge {
  var level = 0
}

/// The observer stores the difference of both values here, so that the compiler cannot remove the reads.
private final class Difference: Sendable {
  let last = Atomic(0)
}
