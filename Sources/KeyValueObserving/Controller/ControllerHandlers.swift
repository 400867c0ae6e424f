// A controller's observations of typed key paths, with a closure.

import CKVO

extension KeyValueObservationController {
  /// Observes a key path with a closure, which is passed the observer.
  ///
  /// ```swift
  /// observations.observe(document, \.title, options: [.old, .new]) { me, document, change in me.update(document) }
  /// ```
  /// The handler has the isolation of the caller, as that of
  /// ``KeyValueObservable/observe(_:options:for:userInfo:isolation:fileID:line:handler:)``: on an actor it is called on it, otherwise on
  /// the thread that makes the change. Does nothing if the observer is being deallocated.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the observer, the object and the change. It need capture nothing.
  public func observe<Object: KeyValueObservable, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Observer, Object, NSKeyValueObservedChange<Value>) -> Void
  ) {
    observe(
      object, keyPath, options, duplicates, userInfo, on: handler.isolation ?? isolation,
      SourceLocation(file: fileID, line: line), ChangeHandler(handler).unchecked)
  }

  /// Observes a key path with a closure, when both the object and the observer may be used by several threads.
  ///
  /// In nonisolated code the handler may be called on several threads, and so has to be `Sendable`.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the observer, the object and the change. It need capture nothing.
  public nonisolated func observe<Object: KeyValueObservable & Sendable, Value: Sendable>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    handler: @escaping @isolated(any) @Sendable (Observer, Object, NSKeyValueObservedChange<Value>) -> Void
  ) where Observer: Sendable {
    observe(
      object, keyPath, options, duplicates, userInfo, on: handler.isolation, SourceLocation(file: fileID, line: line),
      ChangeHandler(handler).unchecked)
  }

  /// Observes a key path with a closure on behalf of an actor, from anywhere. The handler is isolated to the actor.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the observer, the object and the change. It need capture nothing.
  public nonisolated func observe<Object: KeyValueObservable & Sendable, Value: Sendable>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Observer, Object, NSKeyValueObservedChange<Value>) -> Void
  ) where Observer: Actor {
    observe(
      object, keyPath, options, duplicates, userInfo, on: observer.load(), SourceLocation(file: fileID, line: line),
      ActorChangeHandler(handler).unchecked)
  }

  /// - Parameter actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  nonisolated func observe<Object: KeyValueObservable, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
    _ duplicates: Duplicates?, _ userInfo: (any Sendable)?, on actor: (any Actor)?, _ site: SourceLocation,
    _ handler: @escaping (Observer, Object, NSKeyValueObservedChange<Value>) -> Void
  ) {
    add(object, object.name(ofObserved: keyPath), options, duplicates, site) { observer, observation in
      object.receive(keyPath, options, for: observer, on: actor, site, userInfo: userInfo) { observer, object, change in
        if observation.isWanted { handler(observer, object, change) }
      }
    }
  }
}
