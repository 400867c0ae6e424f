// Sets from two threads at the same time, compared with one thread.

import CRows
import Foundation
import KeyValueObserving
import Synchronization

/// An operation that several threads run at the same time.
public struct ThreadedRow {
  public let name: String
  public let subject: String
  /// The minimum ratio of the throughputs of two threads and of one that the project requires.
  public let bar: Double?
  /// Creates the operation of the thread with this number. They are created one after the other, so that objects may be adjacent in
  /// memory.
  public let make: (_ thread: Int) -> (Int) -> Void

  public static var all: [ThreadedRow] {
    [
      ThreadedRow(name: "2 threads, separate objects, observed set", subject: "swift-kvo", bar: 1.9) { _ in
        let (object, tally) = (apart(Observable.init), Tally())
        let token = object.observe(\.number) { object, _ in tally.add(object.number) }
        return { count in
          times(count) { set(object, $0) }
          withExtendedLifetime(token) {}
        }
      },
      // The ratio that the machine achieves for threads that share nothing.
      ThreadedRow(name: "2 threads, separate objects, didSet list", subject: "didSet list", bar: nil) { _ in
        let (object, tally) = (apart(Handwritten.init), Tally())
        object.handlers.append { tally.add($1) }
        return { count in
          times(count) { set(object, $0) }
        }
      },
      ThreadedRow(
        name: "2 threads, one object, C setters of properties without shared storage, observed", subject: "libkvo",
        bar: 1.8, make: { thread in { crows_set_apart($0, Int32(thread)) } }),
      // Both threads store to the same cache line, so that the processor lets one of them wait.
      ThreadedRow(
        name: "2 threads, one object, C setter with atomic storage, observed", subject: "libkvo", bar: nil,
        make: { _ in crows_set_shared }),
    ]
  }
}

/// Returns an object without a neighbor on its cache lines, because sharing one would be caused by the program, not by the library.
private func apart<Object>(_ make: () -> Object) -> Object {
  let objects = (0..<16).map { _ in make() }
  return objects[8]
}

/// Runs each function `count` times, all at the same time on threads of their own, and returns the nanoseconds until the last one
/// ends.
public func together(_ runs: [(Int) -> Void], count: Int) -> Double {
  let race = Race(runs)
  for index in runs.indices { Thread { race.run(index, count) }.start() }
  for _ in runs { race.done.wait() }
  return race.times.withLock { nanoseconds($0.last! - $0.first!) }
}

private final class Race: @unchecked Sendable {
  let runs: [(Int) -> Void]
  let arrived = Atomic(0)
  let times = Mutex((first: ContinuousClock.Instant?.none, last: ContinuousClock.Instant?.none))
  let done = DispatchSemaphore(value: 0)

  init(_ runs: [(Int) -> Void]) { self.runs = runs }

  func run(_ index: Int, _ count: Int) {
    // Otherwise the scheduler may run both on one processor for longer than a turn.
    crows_pin_thread(Int32(index))
    // All begin when all have arrived. Each has a processor, so they spin instead of sleeping.
    arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
    while arrived.load(ordering: .acquiring) < runs.count {}
    let begin = ContinuousClock.now
    runs[index](count)
    let end = ContinuousClock.now
    times.withLock {
      $0.first = min($0.first ?? begin, begin)
      $0.last = max($0.last ?? end, end)
    }
    done.signal()
  }
}

public func nanoseconds(_ duration: Duration) -> Double {
  let (seconds, attoseconds) = duration.components
  return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
}
