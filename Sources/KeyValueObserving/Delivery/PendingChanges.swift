// Changes that wait for their delivery on an actor or a queue, in order.

import CKVO
import Foundation
import Synchronization

/// What waits for its delivery, as a token knows it.
class PendingDelivery {
  private let paused = Atomic<Bool>(false)
  var isPaused: Bool { paused.load(ordering: .sequentiallyConsistent) }

  /// What waits goes on waiting.
  func pause() { paused.store(true, ordering: .sequentiallyConsistent) }

  /// What waits is delivered again.
  func resume() { paused.store(false, ordering: .sequentiallyConsistent) }
}

/// The changes of one observation that wait. They are delivered one after the other, in the order in which they were made.
final class PendingChanges<Value>: PendingDelivery, @unchecked Sendable {
  /// Changes are added here, on any thread.
  private struct Added {
    var changes: [NSKeyValueObservedChange<Value>] = []
    var isScheduled = false
  }

  private let added = Guarded(Added())
  private let hasAdded = Atomic<Bool>(false)
  /// Those that are delivered next, and the index of the first of them. They are used only where changes are delivered: one at a time.
  private var batch: [NSKeyValueObservedChange<Value>] = []
  private var first = 0
  private let observation = Atomic<UInt64>(0)
  private let coalesces: Bool
  private let deliver: (NSKeyValueObservedChange<Value>) -> Void
  private let schedule: (PendingChanges) -> Void

  /// - Parameters:
  ///   - coalesces: Whether the changes that wait are merged into one.
  ///   - deliver: Calls the observer.
  ///   - schedule: Has `deliverAll` called, later, where the observer is to be called.
  init(
    coalesces: Bool, deliver: @escaping (NSKeyValueObservedChange<Value>) -> Void,
    schedule: @escaping (PendingChanges) -> Void
  ) {
    self.coalesces = coalesces
    self.deliver = deliver
    self.schedule = schedule
  }

  /// Sets the observation. When it has ended, what waits is dropped.
  func follow(_ registered: kvo_observation) { observation.store(registered, ordering: .relaxed) }

  private var hasEnded: Bool {
    let observation = observation.load(ordering: .relaxed)
    return observation != 0 && !kvo_observation_is_registered(observation)
  }

  func add(_ change: NSKeyValueObservedChange<Value>) {
    let isFirst = added.withLock { added in
      if coalesces, let last = added.changes.last, last.isPrior == change.isPrior {
        added.changes[added.changes.count - 1] = last.merged(with: change)
      } else {
        added.changes.append(change)
      }
      hasAdded.store(true, ordering: .releasing)
      defer { added.isScheduled = true }
      return !added.isScheduled
    }
    if isFirst { schedule(self) }
  }

  override func resume() {
    super.resume()
    let isFirst = added.withLock { added in
      defer { added.isScheduled = true }
      return !added.isScheduled
    }
    if isFirst { schedule(self) }
  }

  /// Whether nothing waits. Called where changes are delivered, as what follows.
  var isEmpty: Bool { first == batch.count && !hasAdded.load(ordering: .acquiring) }

  /// Takes the next change that waits; `nil` if there is none.
  private func next() -> NSKeyValueObservedChange<Value>? {
    if first == batch.count {
      guard hasAdded.load(ordering: .acquiring) else { return nil }
      added.withLock { added in
        swap(&added.changes, &batch)
        hasAdded.store(false, ordering: .relaxed)
      }
    }
    guard first < batch.count else { return nil }
    let change = batch[first]
    first += 1
    if first == batch.count {
      batch.removeAll(keepingCapacity: true)
      first = 0
    }
    return change
  }

  /// Delivers what waits, before a change that is delivered at once.
  func deliverEarlier() {
    while !isPaused, let change = next() { if !hasEnded { deliver(change) } }
  }

  /// Delivers what waits now. What is added meanwhile is scheduled again, so that other work has its turn.
  func deliverAll() {
    var left = first < batch.count ? batch.count - first : added.withLock { $0.changes.count }
    while left > 0, !isPaused, let change = next() {
      left -= 1
      if !hasEnded { deliver(change) }
    }
    let remains = first < batch.count
    let goesOn = added.withLock { added in
      added.isScheduled = !isPaused && (remains || !added.changes.isEmpty)
      return added.isScheduled
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
