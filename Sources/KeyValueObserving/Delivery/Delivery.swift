// Where the observers of a delivered source are called.

import Dispatch
import Foundation

/// A queue, an actor or an executor.
struct Delivery: Sendable {
  /// Has a function called there, later; returns `false` if that is gone.
  let schedule: @Sendable (@escaping @Sendable () -> Void) -> Bool
  /// What reports and the graph say.
  let name: String
  /// The actor that calls the handler, if it is one.
  let actor: (any Actor)?
  /// `nil` if each change is delivered; otherwise those that wait are merged, and this is the least time between two deliveries.
  var interval: Duration?

  private init(
    _ name: String, actor: (any Actor)? = nil, schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
  ) {
    self.name = name
    self.actor = actor
    self.schedule = schedule
  }

  /// Returns a function that schedules the delivery of pending changes. After a delivery it lets the interval pass first. It does not keep
  /// the actor.
  func scheduler<Value>() -> (_ pending: PendingChanges<Value>, _ isAgain: Bool) -> Bool {
    let (schedule, interval) = (schedule, interval)
    return { pending, isAgain in
      guard isAgain, let interval, interval > .zero else { return schedule { [weak pending] in pending?.deliverAll() } }
      Task { [weak pending] in
        try? await Task.sleep(for: interval)
        if !schedule({ [weak pending] in pending?.deliverAll() }) { pending?.abandon() }
      }
      return true
    }
  }

  /// Where an expression is evaluated that code with this isolation observes.
  func evaluator(_ isolation: (any Actor)?) -> ActorGate? { (isolation ?? actor).map { ActorGate($0) } }

  init(on queue: DispatchQueue) {
    let actor = queue.getSpecific(key: mainQueueKey) != nil ? MainActor.shared : nil
    self.init("on queue \(queue.label)", actor: actor) { body in
      queue.async(execute: body)
      return true
    }
  }

  init(on queue: OperationQueue) {
    let actor = queue === OperationQueue.main ? MainActor.shared : nil
    self.init("on queue \(queue.name ?? "without a name")", actor: actor) { body in
      queue.addOperation(body)
      return true
    }
  }

  init(on actor: any Actor) {
    self.init("on \(TypeNames.name(of: type(of: actor)))", actor: actor) { [weak actor] body in
      guard let actor else { return false }
      Task { await run(on: actor, body) }
      return true
    }
  }

  init(on executor: any TaskExecutor) {
    self.init("on \(TypeNames.name(of: type(of: executor)))") { body in
      Task(executorPreference: executor) { body() }
      return true
    }
  }

  init(on executor: any SerialExecutor) {
    let actor = ExecutorActor(executor)
    self.init("on \(TypeNames.name(of: type(of: executor)))") { body in
      Task { await run(on: actor, body) }
      return true
    }
  }
}

/// An actor that has a given executor.
actor ExecutorActor {
  private nonisolated let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
