// Delivery on the actor to which an observer belongs: at once on the actor, in order and later elsewhere.

import CSwiftRuntime
import Foundation

/// The actor of an observer, and what waits for it.
@usableFromInline
final class ActorDelivery<Value>: @unchecked Sendable {
  private let executor: kvo_executor
  private let actor: any Actor
  private let isMain: Bool
  private let pending: PendingChanges<Value>
  private let deliver: (NSKeyValueObservedChange<Value>) -> Void

  @usableFromInline
  init(_ actor: any Actor, deliver: @escaping (NSKeyValueObservedChange<Value>) -> Void) {
    self.actor = actor
    self.deliver = deliver
    isMain = actor is MainActor
    executor = unsafeBitCast(actor.unownedExecutor, to: kvo_executor.self)
    pending = PendingChanges(coalesces: false, deliver: deliver) { pending in
      Task { await run(on: actor) { pending.deliverAll() } }
    }
  }

  @usableFromInline
  func follow(_ observation: UInt64) { pending.follow(observation) }

  /// Calls the observer if this thread runs on the actor; otherwise the change waits.
  @usableFromInline
  func deliver(_ change: NSKeyValueObservedChange<Value>) {
    guard isOnActor else { return pending.add(change) }
    if !pending.isEmpty { pending.deliverEarlier() }
    deliver(change)
  }

  /// Whether the code that this thread executes is isolated to the actor. What cannot be known counts as not: a change then waits,
  /// which is always right.
  private var isOnActor: Bool {
    let current = swift_task_getCurrentExecutor()
    if current.identity != 0 { return current.identity == executor.identity }
    // The thread runs no job.
    if isMain { return Thread.isMainThread }
    return actor.unownedExecutor.asSerialExecutor()?.isIsolatingCurrentContext() ?? false
  }
}

/// Runs a function on an actor.
func run(on actor: isolated any Actor, _ body: () -> Void) { body() }
