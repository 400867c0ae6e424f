// Observation of one key path with its old and new value.

extension KeyValueObservable {
  /// Calls a handler with the old and the new value when a property or key path has changed, on behalf of a receiver.
  ///
  /// ```swift
  /// document.onChange(of: \.title, initial: true, for: self) { me, old, new in me.label.text = new }
  /// ```
  /// Isolation, threads and the end of the observation are those of
  /// ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``. As SwiftUI's method of this name, it leaves out a change to an
  /// equal value if the type is `Equatable`; `observe` notifies of each set. Of a collection the whole old and new values are passed,
  /// however it was changed. While an array index of the key path is out of range there is no
  /// value, and the handler is not called. If an object on the path was deallocated, or an expression has changed off its actor, and the
  /// old value may hold an object, as a structure may, the new value is passed as the old one. An addition of this library.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe.
  ///   - initial: Whether the handler is also called before the method returns, with the present value as both values.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the receiver, the old value and the new value.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func onChange<Value, Receiver: AnyObject>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    receiveValues(
      keyPath, initial, for: receiver, on: handler.isolation ?? isolation, SourceLocation(file: fileID, line: line),
      userInfo,
      ValuesHandler(handler).unchecked)
  }

  /// The same, when both the object and the receiver may be used by several threads.
  ///
  /// See ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``. In nonisolated code the handler may be called on several
  /// threads, and so has to be `Sendable`.
  @inlinable
  @discardableResult
  public nonisolated func onChange<Value: Sendable, Receiver: AnyObject & Sendable>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext handler: @escaping @isolated(any) @Sendable (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveValues(
      keyPath, initial, for: receiver, on: handler.isolation, SourceLocation(file: fileID, line: line), userInfo,
      ValuesHandler(handler).unchecked)
  }

  /// The same on behalf of an actor, from anywhere. The handler is isolated to the actor.
  ///
  /// See ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``. The initial call is made on the actor, later.
  @inlinable
  @discardableResult
  public nonisolated func onChange<Value: Sendable, Receiver: Actor>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveValues(
      keyPath, initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorValuesHandler(handler).unchecked)
  }

  /// The same on behalf of an actor, in code of that actor. The handler is isolated to the actor.
  ///
  /// See ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public func onChange<Value, Receiver: Actor>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, for receiver: isolated Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    receiveValues(
      keyPath, initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorValuesHandler(handler).unchecked)
  }

  /// Calls a handler with the old and the new value when a property or key path has changed.
  ///
  /// ```swift
  /// document.onChange(of: \.title) { old, new in print(old, "->", new) }.store(in: &tokens)
  /// ```
  /// See ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or the object is deallocated.
  @inlinable
  public func onChange<Value>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @isolated(any) (Value, Value) -> Void
  ) -> NSKeyValueObservation {
    observeValues(
      keyPath, initial, on: handler.isolation ?? isolation, SourceLocation(file: fileID, line: line),
      TokenValuesHandler(handler).unchecked)
  }

  /// The same, when the object may be used by several threads.
  ///
  /// See ``onChange(of:initial:isolation:fileID:line:handler:)``. In nonisolated code the handler may be called on several threads, and
  /// so has to be `Sendable`.
  @inlinable
  public nonisolated func onChange<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext handler: @escaping @isolated(any) @Sendable (Value, Value) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    observeValues(
      keyPath, initial, on: handler.isolation, SourceLocation(file: fileID, line: line),
      TokenValuesHandler(handler).unchecked)
  }
}

extension KeyValueObservable {
  @inlinable
  nonisolated func receiveValues<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, _ initial: Bool, for receiver: Receiver, on actor: (any Actor)?,
    _ site: SourceLocation, _ userInfo: (any Sendable)?, _ handler: @escaping (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let changes = ValueChanges<Value>()
    return receive(
      keyPath, .values(of: Value.self, initial), for: receiver, on: actor, site, userInfo: userInfo,
      remembering: changes.last
    ) { receiver, _, change in
      if let values = changes.values(of: change) { handler(receiver, values.old, values.new) }
    }
  }

  @inlinable
  nonisolated func observeValues<Value>(
    _ keyPath: KeyPath<Self, Value>, _ initial: Bool, on actor: (any Actor)?, _ site: SourceLocation,
    _ handler: @escaping (Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let options = NSKeyValueObservingOptions.values(of: Value.self, initial)
    let changes = ValueChanges<Value>()
    let end = ObservationEnd()
    end.remember(changes.last)
    let tell: (NSKeyValueObservedChange<Value>) -> Void = { change in
      if let values = changes.values(of: change) { handler(values.old, values.new) }
    }
    guard let actor else {
      let description = ObserverDescription(receiver: nil, note: nil, end: end)
      return .keeping([observe(keyPath, options, site, description) { _, change in tell(change) }], end)
    }
    let delivery = ActorDelivery<Value>(actor, end, expectsInitial: initial, tell: tell)
    let description = ObserverDescription(
      receiver: nil, note: deliveryName(actor), evaluator: delivery.gate.evaluator, end: end)
    return .keeping([observe(keyPath, options, site, description) { _, change in delivery.deliver(change) }], end)
  }
}
