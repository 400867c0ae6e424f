// Delivery on the actor to which an observer belongs: at once on the actor, in order and later elsewhere.

import CSwiftRuntime
import Dispatch

/// The actor of an observer, and what waits for it.
@usableFromInline
final class ActorDelivery<Value>: @unchecked Sendable {
  @usableFromInline let gate: ActorGate
  let pending: PendingChanges<Value>
  private let tell: (NSKeyValueObservedChange<Value>) -> Void

  @usableFromInline
  init(_ actor: any Actor, tell: @escaping (NSKeyValueObservedChange<Value>) -> Void) {
    self.tell = tell
    pending = PendingChanges(coalesces: false, deliver: tell) { pending in
      Task { await run(on: actor) { pending.deliverAll() } }
    }
    gate = ActorGate(actor, pending)
  }

  @usableFromInline
  func follow(_ observation: UInt64) { pending.follow(observation) }

  /// Calls the observer if this thread runs on the actor, after what waits; otherwise the change waits.
  @usableFromInline
  func deliver(_ change: NSKeyValueObservedChange<Value>) {
    guard gate.isCurrent else { return pending.add(change) }
    pending.deliverEarlier()
    tell(change)
  }
}

/// An actor, with its executor for comparison. Not generic, so that the question for each change is fast.
@usableFromInline
final class ActorGate: Sendable {
  private let actor: any Actor
  private let executor: kvo_executor
  private nonisolated(unsafe) let pending: PendingDelivery
  private let isMain: Bool

  init(_ actor: any Actor, _ pending: PendingDelivery) {
    self.actor = actor
    self.pending = pending
    isMain = actor is MainActor
    executor = unsafeBitCast(actor.unownedExecutor, to: kvo_executor.self)
  }

  /// Whether a change can be delivered at once: this thread runs on the actor, and nothing waits.
  @usableFromInline var isDue: Bool { isCurrent && pending.isEmpty }

  /// Whether the code that this thread executes is isolated to the actor. What cannot be known counts as not: a change then waits,
  /// which is always right.
  var isCurrent: Bool {
    let current = swift_task_getCurrentExecutor()
    if current.identity != 0 { return current.identity == executor.identity }
    // The thread runs no job, but may run a block of the main queue, which is the main actor's.
    if isMain { return kvo_is_main_thread() || DispatchQueue.getSpecific(key: mainQueueKey) != nil }
    // An actor without an executor of its own runs jobs only, and has nothing that could be asked.
    guard executor.implementation != 0 else { return false }
    return actor.unownedExecutor.asSerialExecutor()?.isIsolatingCurrentContext() ?? false
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
