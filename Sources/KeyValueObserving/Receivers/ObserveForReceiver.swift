// Observation on behalf of a receiver: no token and no weak capture is needed.

extension KeyValueObservable {
  /// Observes a key path on behalf of a receiver, which is passed to the handler and need not be captured.
  ///
  /// ```swift
  /// document.observe(\.title, options: [.old, .new], for: self) { me, document, change in
  ///   me.label.text = change.newValue ?? ""
  /// }
  /// ```
  /// The observation holds the receiver weakly. It ends when the receiver or the object is deallocated, or when it is ended with the token
  /// or ``stopObserving(_:for:fileID:line:)``, exactly once. A receiver that is an observable object ends it at its deallocation, any other
  /// one at the next change, which is not delivered.
  ///
  /// The handler has the isolation of the caller. On an actor, such as the main actor, it may use the actor's state: a change made on
  /// the actor is delivered before the setter returns; one made elsewhere is delivered later on the actor, in the order of the changes
  /// and with the values as they were. A key path that is not one of stored properties, such as a computed property, is evaluated on the
  /// actor, and has one value for all changes made elsewhere before; no old value is kept for that if it may hold an object, as in a
  /// structure. What waits when the observation ends is dropped. In nonisolated code the handler is called on the thread that makes the
  /// change, as on Apple's platforms. An addition of this library.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe, as in ``observe(_:options:fileID:line:changeHandler:)``.
  ///   - options: Which values a change includes, and whether the handler is also called now and before changes. A prior notification
  ///     of a change made off the actor arrives, like the change itself, after it.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the receiver, the object and the change. It need capture nothing.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func observe<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], for receiver: Receiver,
    userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    receive(
      keyPath, options, for: receiver, on: handler.isolation ?? isolation, SourceLocation(file: fileID, line: line),
      userInfo: userInfo,
      ChangeHandler(handler).unchecked)
  }

  /// Observes a key path on behalf of a receiver, when both the object and the receiver may be used by several threads.
  ///
  /// See ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``. In nonisolated code the handler may be called on several
  /// threads, and so has to be `Sendable`.
  @inlinable
  @discardableResult
  public nonisolated func observe<Value: Sendable, Receiver: AnyObject & Sendable>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    handler: @escaping @isolated(any) @Sendable (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receive(
      keyPath, options, for: receiver, on: handler.isolation, SourceLocation(file: fileID, line: line),
      userInfo: userInfo, ChangeHandler(handler).unchecked)
  }

  /// Observes a key path on behalf of an actor, from anywhere. The handler is isolated to the actor.
  ///
  /// See ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public nonisolated func observe<Value: Sendable, Receiver: Actor>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receive(
      keyPath, options, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo: userInfo,
      ActorChangeHandler(handler).unchecked)
  }

  /// Observes a key path on behalf of an actor, in code of that actor. The handler is isolated to the actor.
  ///
  /// See ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public func observe<Value, Receiver: Actor>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], for receiver: isolated Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    receive(
      keyPath, options, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo: userInfo,
      ActorChangeHandler(handler).unchecked)
  }
}
