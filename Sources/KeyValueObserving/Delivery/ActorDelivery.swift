// Delivery on the actor to which an observer belongs: at once on the actor, in order and later elsewhere.

import CKVO
import CSwiftRuntime
import Dispatch

/// The actor of an observer, which is not retained, and what waits for it.
@usableFromInline
final class ActorDelivery<Value>: @unchecked Sendable {
  @usableFromInline let gate: ActorGate
  let pending: PendingChanges<Value>

  /// - Parameters:
  ///   - end: That of the observation.
  ///   - expectsInitial: Whether this thread is about to tell the initial value, before the observation is registered, if there is one.
  @usableFromInline
  init(
    _ actor: any Actor, _ end: ObservationEnd, expectsInitial: Bool,
    tell: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) {
    let reference = unretained(actor)
    pending = PendingChanges(end, coalesces: false, expectsInitial: expectsInitial, on: actor, deliver: tell) {
      pending, _ in
      guard let actor = reference() else { return false }
      Task { [weak pending] in await run(on: actor) { pending?.deliverAll() } }
      return true
    }
    gate = ActorGate(actor, reference, pending)
  }

  /// Calls the observer if this thread runs on the actor, after what waits; otherwise the change waits. The initial value comes first.
  @usableFromInline
  func deliver(_ change: NSKeyValueObservedChange<Value>) {
    guard gate.isCurrent else { return pending.add(change) }
    // Added too, because a change that an observer makes while this one waits comes after it.
    pending.append(change)
    pending.deliverEarlier()
  }
}

/// Returns a function that returns an actor as long as it lives.
private func unretained<Known: Actor>(_ actor: Known) -> @Sendable () -> (any Actor)? {
  nonisolated(unsafe) let reference = UnretainedObject(actor)
  return { reference.load() }
}

/// An actor, which is not retained, with its executor for comparison. Not generic, so that the question for each change is fast.
@usableFromInline
final class ActorGate: Sendable {
  private let actor: @Sendable () -> (any Actor)?
  private let executor: kvo_executor
  private nonisolated(unsafe) let pending: PendingDelivery?
  private let isMain: Bool

  convenience init(_ actor: any Actor) { self.init(actor, unretained(actor), nil) }

  fileprivate init(_ actor: any Actor, _ reference: @escaping @Sendable () -> (any Actor)?, _ pending: PendingDelivery?)
  {
    self.actor = reference
    self.pending = pending
    isMain = actor is MainActor
    executor = unsafeBitCast(actor.unownedExecutor, to: kvo_executor.self)
  }

  /// Whether a change can be delivered at once: this thread runs on the actor, nothing waits, and the initial value is not the next one.
  @usableFromInline var isDue: Bool { isCurrent && pending?.isIdle ?? false }

  /// The gate of the actor on which an expression is evaluated that is registered now: that of the code that registers it or, if that has
  /// none, of the handler, which is this one.
  @usableFromInline var evaluator: ActorGate { isCurrent ? self : currentActor().map { ActorGate($0) } ?? self }

  /// Whether this thread may evaluate an expression of the actor's code. Without the actor there is no other code that it could race with.
  var mayEvaluate: Bool { isCurrent || actor() == nil }

  /// Has a function called where expressions may be evaluated: on the actor, later, if it lives.
  func run(_ body: @escaping @Sendable () -> Void) {
    guard let actor = actor() else { return body() }
    Task { await KeyValueObserving.run(on: actor, body) }
  }

  /// Whether the code that this thread executes is isolated to the actor. What cannot be known counts as not: a change then waits,
  /// which is always right.
  var isCurrent: Bool {
    let current = swift_task_getCurrentExecutor()
    if current.identity != 0 { return current.identity == executor.identity }
    // The thread runs no job, but may run a block of the main queue, which is the main actor's.
    if isMain { return kvo_is_main_thread() || DispatchQueue.getSpecific(key: mainQueueKey) != nil }
    // An actor without an executor of its own runs jobs only, and has nothing that could be asked.
    guard executor.implementation != 0 else { return false }
    return actor()?.unownedExecutor.asSerialExecutor()?.isIsolatingCurrentContext() ?? false
  }
}

/// The actor on which this thread runs, if that can be known.
private func currentActor() -> (any Actor)? {
  let current = swift_task_getCurrentExecutor()
  if ActorGate(MainActor.shared).isCurrent { return MainActor.shared }
  guard current.identity != 0 else { return nil }
  // An actor without an executor of its own is its executor.
  guard current.implementation != 0 else {
    return Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: current.identity)!).takeUnretainedValue()
      as? any Actor
  }
  return unsafeBitCast(current, to: UnownedSerialExecutor.self).asSerialExecutor().map {
    $0 as? any Actor ?? ExecutorActor($0)
  }
}

/// Set on the main queue only. After an asynchronous `main` it runs its blocks on other threads than the main one.
let mainQueueKey: DispatchSpecificKey<Bool> = {
  let key = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: key, value: true)
  return key
}()

/// Runs a function on an actor.
func run(on actor: isolated any Actor, _ body: () -> Void) { body() }
