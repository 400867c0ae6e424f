// Changes that wait for their delivery on an actor or a queue, in order.

import CKVO
import Foundation
import Synchronization

/// The changes of one observation that wait. They are delivered one after the other, in the order in which they were made.
@usableFromInline
final class PendingChanges<Value>: @unchecked Sendable {
  private struct Waiting {
    var changes: [NSKeyValueObservedChange<Value>] = []
    /// The index of the first that was not delivered.
    var first = 0
    var isScheduled = false

    var count: Int { changes.count - first }

    mutating func next() -> NSKeyValueObservedChange<Value>? {
      guard first < changes.count else { return nil }
      defer {
        first += 1
        // Frees the delivered ones, at a cost in proportion to what is left.
        if first * 2 > changes.count {
          changes.removeFirst(first)
          first = 0
        }
      }
      return changes[first]
    }
  }

  private let waiting = Guarded(Waiting())
  private let count = Atomic<Int>(0)
  private let observation = Atomic<UInt64>(0)
  private let coalesces: Bool
  private let deliver: (NSKeyValueObservedChange<Value>) -> Void
  private let schedule: (PendingChanges) -> Void

  /// - Parameters:
  ///   - coalesces: Whether the changes that wait are merged into one.
  ///   - deliver: Calls the observer.
  ///   - schedule: Has `deliverAll` called, later, where the observer is to be called.
  @usableFromInline
  init(
    coalesces: Bool, deliver: @escaping (NSKeyValueObservedChange<Value>) -> Void,
    schedule: @escaping (PendingChanges) -> Void
  ) {
    self.coalesces = coalesces
    self.deliver = deliver
    self.schedule = schedule
  }

  /// Sets the observation. When it has ended, what waits is dropped.
  @usableFromInline
  func follow(_ registered: UInt64) { observation.store(registered, ordering: .relaxed) }

  @usableFromInline var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  private var hasEnded: Bool {
    let observation = observation.load(ordering: .relaxed)
    return observation != 0 && !kvo_observation_is_registered(observation)
  }

  @usableFromInline
  func add(_ change: NSKeyValueObservedChange<Value>) {
    let isFirst = waiting.withLock { waiting in
      if coalesces, let last = waiting.changes.last, waiting.count > 0, last.isPrior == change.isPrior {
        waiting.changes[waiting.changes.count - 1] = last.merged(with: change)
      } else {
        waiting.changes.append(change)
        count.store(waiting.count, ordering: .releasing)
      }
      defer { waiting.isScheduled = true }
      return !waiting.isScheduled
    }
    if isFirst { schedule(self) }
  }

  private func next() -> NSKeyValueObservedChange<Value>? {
    waiting.withLock { waiting in
      defer { count.store(waiting.count, ordering: .releasing) }
      return waiting.next()
    }
  }

  /// Whether what waits has to go on waiting, until the change that is told when the observation is resumed.
  private var isPaused: Bool {
    let observation = observation.load(ordering: .relaxed)
    return observation != 0 && kvo_observation_is_paused(observation)
  }

  /// Delivers what waits, before a change that is delivered at once.
  @usableFromInline
  func deliverEarlier() {
    while let change = next() { if !hasEnded { deliver(change) } }
  }

  /// Delivers what waits now. What is added meanwhile is scheduled again, so that other work has its turn.
  @usableFromInline
  func deliverAll() {
    var left = waiting.withLock { $0.count }
    while left > 0, !isPaused, let change = next() {
      left -= 1
      if !hasEnded { deliver(change) }
    }
    let goesOn = waiting.withLock { waiting in
      waiting.isScheduled = waiting.count > 0 && !isPaused
      return waiting.isScheduled
    }
    if goesOn { schedule(self) }
  }
}

extension NSKeyValueObservedChange {
  /// This change and a later one as one: the old value of this one, and the new value of the later one.
  func merged(with later: Self) -> Self {
    Self(kind: .setting, newValue: later.newValue, oldValue: oldValue, isPrior: isPrior)
  }
}
