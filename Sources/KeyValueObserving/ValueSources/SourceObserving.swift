// Observation of a source, in the forms in which key paths are observed.

extension KeyValueSource {
  /// Observes the source on behalf of a receiver, which is passed to the handler and need not be captured.
  ///
  /// ```swift
  /// shown.observe(options: [.initial, .new], for: self) { me, change in me.label.text = change.newValue ?? "" }
  /// ```
  /// Receiver, isolation and threads are those of
  /// ``KeyValueObservable/observe(_:options:for:userInfo:isolation:fileID:line:handler:)``: the receiver is held weakly, and the handler
  /// has the isolation of the caller. Only the source of one key path, typed or a string, has changes of elements and `.prior`. Any other
  /// one, of an operator for instance, notifies of settings of whole values. `.prior` with it is fault KVO0008, because its value is not
  /// known before a change.
  ///
  /// - Parameters:
  ///   - options: Which values a change includes, and whether the handler is also called now.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the receiver and the change.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func observe<Receiver: AnyObject>(
    options: NSKeyValueObservingOptions = [], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    receive(
      options, for: receiver, on: handler.isolation ?? isolation, SourceLocation(file: fileID, line: line), userInfo,
      SourceHandler(handler).unchecked)
  }

  /// The same on behalf of an actor, from anywhere. The handler is isolated to the actor.
  ///
  /// See ``observe(options:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public nonisolated func observe<Receiver: Actor>(
    options: NSKeyValueObservingOptions = [], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation where Value: Sendable {
    receive(
      options, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorSourceHandler(handler).unchecked)
  }

  /// The same on behalf of an actor, in code of that actor. The handler is isolated to the actor.
  ///
  /// See ``observe(options:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public func observe<Receiver: Actor>(
    options: NSKeyValueObservingOptions = [], for receiver: isolated Receiver, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    receive(
      options, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorSourceHandler(handler).unchecked)
  }

  /// Observes the source.
  ///
  /// See ``observe(options:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or what the source observes is deallocated.
  @inlinable
  public func observe(
    options: NSKeyValueObservingOptions = [], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    changeHandler: @escaping @isolated(any) (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    observe(
      options, on: changeHandler.isolation ?? isolation, SourceLocation(file: fileID, line: line),
      SourceTokenHandler(changeHandler).unchecked)
  }
}

extension KeyValueSource {
  /// Calls a handler with the old and the new value when the source has changed, on behalf of a receiver.
  ///
  /// ```swift
  /// shown.onChange(initial: true, for: self) { me, old, new in me.label.text = new }
  /// ```
  /// As ``KeyValueObservable/onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``. While there is no old value, because
  /// nothing has passed a filter before, the new value is passed as both.
  ///
  /// - Parameters:
  ///   - initial: Whether the handler is also called before the method returns, with the present value as both values.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - handler: The closure to call with the receiver, the old value and the new value.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func onChange<Receiver: AnyObject>(
    initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let changes = ValueChanges<Value>()
    let handle = ValuesHandler(handler).unchecked
    return receive(
      .values(of: Value.self, initial), for: receiver, on: handler.isolation ?? isolation,
      SourceLocation(file: fileID, line: line),
      userInfo, remembering: changes.last
    ) { receiver, change in
      if let values = changes.values(of: change) { handle(receiver, values.old, values.new) }
    }
  }

  /// The same on behalf of an actor, from anywhere. The handler is isolated to the actor.
  ///
  /// See ``onChange(initial:for:userInfo:isolation:fileID:line:handler:)``. The initial call is made on the actor, later.
  @inlinable
  @discardableResult
  public nonisolated func onChange<Receiver: Actor>(
    initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping @Sendable (isolated Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation where Value: Sendable {
    let changes = ValueChanges<Value>()
    let handle = ActorValuesHandler(handler).unchecked
    return receive(
      .values(of: Value.self, initial), for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      remembering: changes.last
    ) { receiver, change in
      if let values = changes.values(of: change) { handle(receiver, values.old, values.new) }
    }
  }

  /// The same on behalf of an actor, in code of that actor. The handler is isolated to the actor.
  ///
  /// See ``onChange(initial:for:userInfo:isolation:fileID:line:handler:)``.
  @inlinable
  @discardableResult
  public func onChange<Receiver: Actor>(
    initial: Bool = false, for receiver: isolated Receiver, userInfo: (any Sendable)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let changes = ValueChanges<Value>()
    let handle = ActorValuesHandler(handler).unchecked
    return receive(
      .values(of: Value.self, initial), for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      remembering: changes.last
    ) { receiver, change in
      if let values = changes.values(of: change) { handle(receiver, values.old, values.new) }
    }
  }

  /// Calls a handler with the old and the new value when the source has changed.
  ///
  /// See ``onChange(initial:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or what the source observes is deallocated.
  @inlinable
  public func onChange(
    initial: Bool = false, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping @isolated(any) (Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let changes = ValueChanges<Value>()
    let handle = TokenValuesHandler(handler).unchecked
    return observe(
      .values(of: Value.self, initial), on: handler.isolation ?? isolation, SourceLocation(file: fileID, line: line),
      remembering: changes.last
    ) { change in
      if let values = changes.values(of: change) { handle(values.old, values.new) }
    }
  }
}
