// Where and how the changes of an observation are delivered, if not on the thread that makes them.

public import Dispatch
public import Foundation

/// Where the handler of an observation is called.
///
/// ```swift
/// document.onChange(of: \.title, delivery: .on(queue), coalescing: .latest, for: self) { me, old, new in me.save(new) }
/// ```
/// Changes are delivered one after the other, in the order in which they were made and with the values as they were, also on a queue
/// that runs several blocks at once. What waits when the observation ends is dropped.
public struct KeyValueDelivery: Sendable {
  /// Has a function called there, later; returns `false` if that is gone.
  @usableFromInline let schedule: @Sendable (@escaping @Sendable () -> Void) -> Bool
  /// What reports and the graph say.
  @usableFromInline let name: String
  /// The actor that calls the handler, if it is one.
  @usableFromInline let actor: (any Actor)?

  private init(
    _ name: String, actor: (any Actor)? = nil, schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
  ) {
    self.name = name
    self.actor = actor
    self.schedule = schedule
  }

  /// Where an expression is evaluated that code with this isolation observes.
  @usableFromInline
  func evaluator(_ isolation: (any Actor)?) -> ActorGate? { (isolation ?? actor).map { ActorGate($0) } }

  /// On a dispatch queue. The main queue is also that of the main actor.
  public static func on(_ queue: DispatchQueue) -> KeyValueDelivery {
    let actor = queue.getSpecific(key: mainQueueKey) != nil ? MainActor.shared : nil
    return KeyValueDelivery("on queue \(queue.label)", actor: actor) { body in
      queue.async(execute: body)
      return true
    }
  }

  /// On an operation queue. While it is suspended, changes wait.
  @_disfavoredOverload  // so that .on(.main) is the dispatch queue
  public static func on(_ queue: OperationQueue) -> KeyValueDelivery {
    let actor = queue === OperationQueue.main ? MainActor.shared : nil
    return KeyValueDelivery("on queue \(queue.name ?? "without a name")", actor: actor) { body in
      queue.addOperation(body)
      return true
    }
  }

  /// On an actor, such as `MainActor.shared`. Unlike a handler with the isolation of its caller, it is called later also if the change
  /// is made on the actor.
  public static func on(_ actor: any Actor) -> KeyValueDelivery {
    KeyValueDelivery("on \(TypeNames.name(of: type(of: actor)))", actor: actor) { [weak actor] body in
      guard let actor else { return false }
      Task { await run(on: actor, body) }
      return true
    }
  }

  /// On a task executor.
  public static func executor(_ executor: any TaskExecutor) -> KeyValueDelivery {
    KeyValueDelivery("on \(TypeNames.name(of: type(of: executor)))") { body in
      Task(executorPreference: executor) { body() }
      return true
    }
  }

  /// On a serial executor, as an actor's jobs are.
  public static func executor(_ executor: any SerialExecutor) -> KeyValueDelivery {
    let actor = ExecutorActor(executor)
    return KeyValueDelivery("on \(TypeNames.name(of: type(of: executor)))") { body in
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

/// What happens to changes that wait for their delivery when another one is made.
public enum KeyValueCoalescing: Sendable {
  /// Each change is delivered.
  case each
  /// They are delivered as one, with the old value of the first and the new value of the last. Changes of a collection are delivered as
  /// a setting of the whole collection.
  case latest
}
