// A controller's observations of string key paths, with a closure.

import CKVO

extension KeyValueObservationController {
  /// Observes a string key path with a closure, which is passed the observer.
  ///
  /// ```swift
  /// observations.observe(document, "author.name", options: [.new]) { me, document, change in me.update(document) }
  /// ```
  /// The values are those that a change dictionary has: `NSNull` for `nil`. Isolation and threads are those of
  /// ``observe(_:_:options:duplicates:userInfo:isolation:fileID:line:handler:)``; a value that is delivered later on an actor must be one
  /// that several threads may use. Key paths that cannot be observed are the same faults as for a classic observer.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the observer, the object and the change. It need capture nothing.
  public func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Observer, Object, NSKeyValueObservedChange<Any>) -> Void
  ) {
    observe(
      object, keyPath, options, duplicates, userInfo, on: handler.isolation ?? isolation,
      SourceLocation(file: fileID, line: line), ChangeHandler(handler).unchecked)
  }

  /// Observes a string key path with a closure, when both the object and the observer may be used by several threads.
  ///
  /// In nonisolated code the handler may be called on several threads, and so has to be `Sendable`.
  ///
  /// - Parameters:
  ///   - object: What to observe. It is not retained unless the controller does.
  ///   - keyPath: As in ``KeyValueObservable/addObserver(_:forKeyPath:options:context:userInfo:fileID:line:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes.
  ///   - duplicates: What to do if the controller already observes the key path of the object; by default what it was created with.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the observer, the object and the change. It need capture nothing.
  public nonisolated func observe<Object: KeyValueObservable & Sendable>(
    _ object: Object, _ keyPath: String, options: NSKeyValueObservingOptions = [],
    duplicates: Duplicates? = nil, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    handler: @escaping @isolated(any) @Sendable (Observer, Object, NSKeyValueObservedChange<Any>) -> Void
  ) where Observer: Sendable {
    observe(
      object, keyPath, options, duplicates, userInfo, on: handler.isolation, SourceLocation(file: fileID, line: line),
      ChangeHandler(handler).unchecked)
  }

  /// - Parameter actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  nonisolated func observe<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, _ options: NSKeyValueObservingOptions, _ duplicates: Duplicates?,
    _ userInfo: (any Sendable)?, on actor: (any Actor)?, _ site: SourceLocation,
    _ handler: @escaping (Observer, Object, NSKeyValueObservedChange<Any>) -> Void
  ) {
    add(object, keyPath, options, duplicates, site) { observer, observation in
      object.receive(path: keyPath, options, for: observer, on: actor, site, userInfo: userInfo) {
        observer, object, change in
        if observation.isWanted { handler(observer, object, change) }
      }
    }
  }
}
