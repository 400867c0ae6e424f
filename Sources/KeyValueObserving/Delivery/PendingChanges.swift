// Changes that wait for their delivery on an actor or a queue, in order.

import Foundation
public import Synchronization

/// What waits for its delivery, as a token knows it.
@usableFromInline
class PendingDelivery {
  @usableFromInline let paused = Atomic<Bool>(false)
  /// How many changes wait.
  @usableFromInline let waiting = Atomic<Int>(0)
  @usableFromInline let initial: InitialValue
  @usableFromInline let end: ObservationEnd

  /// Whether nothing waits. Called where changes are delivered.
  @inlinable final var isEmpty: Bool { waiting.load(ordering: .acquiring) == 0 }

  /// Whether nothing waits, and no initial value is expected.
  final var isIdle: Bool { isEmpty && !initial.isExpected }

  /// - Parameter expectsInitial: Whether this thread is about to add the initial value, which comes first whatever other threads add:
  ///   until then nothing is delivered. If there is none, `registered` ends that.
  init(_ end: ObservationEnd, expectsInitial: Bool) {
    self.end = end
    initial = InitialValue(isExpected: expectsInitial)
  }

  /// The observation has been registered, and its initial value, if there is one, has been added.
  func registered() { initial.end() }

  @inlinable final var isPaused: Bool { paused.load(ordering: .sequentiallyConsistent) }

  /// What waits goes on waiting.
  func pause() { paused.store(true, ordering: .sequentiallyConsistent) }

  /// What waits is delivered again.
  @usableFromInline
  func resume() { paused.store(false, ordering: .sequentiallyConsistent) }
}

/// The changes of one observation that wait. They are delivered one after the other, in the order in which they were made.
@usableFromInline
final class PendingChanges<Value>: PendingDelivery, @unchecked Sendable {
  /// Changes are added here, on any thread.
  @usableFromInline
  struct Added {
    @usableFromInline var changes: [NSKeyValueObservedChange<Value>] = []
    @usableFromInline var isScheduled = false

    @inlinable
    init() {}

    /// Adds the initial change as the first one. Changes that other threads have made since the value was read are part of it. Returns
    /// those that it replaces.
    @usableFromInline
    mutating func begin(with initial: NSKeyValueObservedChange<Value>) -> [NSKeyValueObservedChange<Value>] {
      guard let merged = initial.ifInitial(after: changes) else {
        changes.insert(initial, at: 0)
        return []
      }
      defer { changes = [merged] }
      return changes
    }
  }

  @usableFromInline let added = Guarded(Added())
  /// Those that are delivered next, and the index of the first of them. They are used only where changes are delivered: one at a time.
  @usableFromInline var batch: [NSKeyValueObservedChange<Value>] = []
  @usableFromInline var first = 0
  @usableFromInline let coalesces: Bool
  /// The address of the actor that calls the observer, if it is one.
  private nonisolated(unsafe) let place: UnsafeRawPointer?
  @usableFromInline let deliver: (NSKeyValueObservedChange<Value>) -> Void
  @usableFromInline let schedule: (_ pending: PendingChanges, _ isAgain: Bool) -> Bool
  /// Released last, after the observer's closure: the runtime has released the one that adds changes, and no delivery runs.
  private let ending: DeliveryEnd

  /// - Parameters:
  ///   - end: That of the observation. When it has ended, pending changes are dropped.
  ///   - coalesces: Whether the changes that wait are merged into one.
  ///   - expectsInitial: See `PendingDelivery`.
  ///   - place: The actor that calls the observer, if it is one. It is not retained.
  ///   - deliver: Calls the observer.
  ///   - schedule: Has `deliverAll` called, later, where the observer is to be called; returns `false` if that is gone. Then the
  ///     observation ends. `isAgain` says that it comes from there: merged changes have just been delivered.
  init(
    _ end: ObservationEnd, coalesces: Bool, expectsInitial: Bool, on place: (any Actor)?,
    deliver: @escaping (NSKeyValueObservedChange<Value>) -> Void,
    schedule: @escaping (_ pending: PendingChanges, _ isAgain: Bool) -> Bool
  ) {
    self.coalesces = coalesces
    self.deliver = deliver
    self.schedule = schedule
    self.place = place.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
    ending = DeliveryEnd(end: end)
    super.init(end, expectsInitial: expectsInitial)
    end.setDelivery(self)
  }

  /// Adds a change without scheduling: the caller delivers it.
  func append(_ change: NSKeyValueObservedChange<Value>) { _ = append(change, schedules: false) }

  /// Returns whether the caller has to schedule the delivery.
  @inlinable
  func append(_ change: NSKeyValueObservedChange<Value>, schedules: Bool) -> Bool {
    // Those that it replaces are released by this function, without the lock.
    var replaced: [NSKeyValueObservedChange<Value>] = []
    defer { withExtendedLifetime(replaced) {} }
    return added.withLock { added in
      let before = added.changes.count
      if initial.isNext() {
        replaced = added.begin(with: change)
      } else if coalesces, before > 0 {
        added.changes[before - 1] = added.changes[before - 1].merged(with: change)
      } else {
        added.changes.append(change)
      }
      waiting.add(added.changes.count - before, ordering: .releasing)
      guard schedules, !initial.isExpected else { return false }
      defer { added.isScheduled = true }
      return !added.isScheduled
    }
  }

  @inlinable
  func add(_ change: NSKeyValueObservedChange<Value>) { if append(change, schedules: true) { scheduleAll() } }

  override func registered() {
    super.registered()
    if !isEmpty { scheduleUnlessScheduled() }
  }

  @usableFromInline
  override func resume() {
    super.resume()
    scheduleUnlessScheduled()
  }

  private func scheduleUnlessScheduled() {
    let isFirst = added.withLock { added in
      defer { added.isScheduled = true }
      return !added.isScheduled
    }
    if isFirst { scheduleAll() }
  }

  @inlinable
  func scheduleAll(again isAgain: Bool = false) { if !schedule(self, isAgain) { abandon() } }

  /// Drops the pending changes and ends the observation, because the actor that calls its observer has been deallocated.
  @usableFromInline
  func abandon() {
    let dropped = added.withLock { added in
      defer { added.changes = [] }
      added.isScheduled = false
      waiting.subtract(added.changes.count, ordering: .relaxed)
      return added.changes
    }
    // Their values are released here, without the lock.
    withExtendedLifetime(dropped) {}
    end.placeDied(place)
  }

  /// Takes the next change that waits; `nil` if there is none.
  @inlinable
  func next() -> NSKeyValueObservedChange<Value>? {
    if first == batch.count {
      guard !isEmpty else { return nil }
      added.withLock { swap(&$0.changes, &batch) }
    }
    guard first < batch.count else { return nil }
    let change = batch[first]
    first += 1
    waiting.subtract(1, ordering: .relaxed)
    if first == batch.count {
      batch.removeAll(keepingCapacity: true)
      first = 0
    }
    return change
  }

  /// Delivers what waits, before a change that is delivered at once.
  @inlinable
  func deliverEarlier() {
    while !isPaused, let change = next() { if !end.isOver { deliver(change) } }
  }

  /// Delivers what waits now. What is added meanwhile is scheduled again, so that other work has its turn.
  @inlinable
  func deliverAll() {
    // During a pause what waits stays there, so that later changes are merged with it.
    if first == batch.count, !isPaused { added.withLock { swap(&$0.changes, &batch) } }
    var left = batch.count - first
    let deliversSome = left > 0
    while left > 0, !isPaused, let change = next() {
      left -= 1
      if !end.isOver { deliver(change) }
    }
    // Of merged changes there is one at a time. So that not each of many has to be scheduled by the thread that makes it, this function
    // is once more scheduled after it has delivered one.
    if coalesces, deliversSome, !isPaused { return scheduleAll(again: true) }
    let remains = first < batch.count
    let goesOn = added.withLock { added in
      added.isScheduled = !isPaused && (remains || !added.changes.isEmpty)
      return added.isScheduled
    }
    if goesOn { scheduleAll() }
  }
}

/// Notes the end of a delivery when it is released.
private final class DeliveryEnd {
  private let end: ObservationEnd

  init(end: ObservationEnd) { self.end = end }

  deinit { end.deliveryHasEnded() }
}

extension NSKeyValueObservedChange {
  /// Returns this initial change with the new value of the last of the changes that came before it; `nil` if there are none, or if they,
  /// or it, have only some elements of a collection.
  @usableFromInline
  func ifInitial(after changes: [Self]) -> Self? {
    guard kind == .setting, let last = changes.last, changes.allSatisfy({ $0.kind == .setting }) else { return nil }
    return Self(kind: .setting, newValue: last.newValue, oldValue: nil)
  }

  /// This change and a later one as one: the old value of this one, and the new value of the later one. Merged with an initial change it
  /// is the initial change, which has no old value.
  @inlinable
  func merged(with later: Self) -> Self {
    Self(kind: .setting, newValue: later.newValue, oldValue: oldValue, isPrior: isPrior)
  }
}
