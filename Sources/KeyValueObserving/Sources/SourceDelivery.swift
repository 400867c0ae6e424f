// Observation of a source with a delivery on a queue, an actor or an executor.

extension KeyValueSource where Value: Sendable {
  /// Observes the source on behalf of a receiver, and calls the handler on a queue, an actor or an executor.
  ///
  /// As ``KeyValueObservable/observe(_:options:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Parameters:
  ///   - options: Which values a change includes. `.initial` is delivered first, in the same way; `.prior` is fault KVO0008.
  ///   - delivery: Where the handler is called.
  ///   - coalescing: What happens to changes that wait.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that observes, unless it is named here.
  ///   - handler: The closure to call. If it is isolated to an actor, `delivery` has to name that actor; otherwise it is fault KVO0008.
  /// - Returns: The token, whose release ends nothing.
  @discardableResult
  public nonisolated func observe<Receiver: AnyObject>(
    options: NSKeyValueObservingOptions = [], delivery: KeyValueDelivery, coalescing: KeyValueCoalescing = .each,
    for receiver: Receiver, userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    let handle = SourceHandler(handler).unchecked
    let (observations, pending) = observe(
      options, delivery, coalescing, SourceLocation(file: fileID, line: line),
      ObserverDescription(
        receiver: receiver, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation)),
      handler.isolation
    ) { change in
      if let receiver = reference.load() { handle(receiver, change) }
    }
    return reference.token(observations, of: receiver, pending)
  }

  /// Observes the source, and calls the handler on a queue, an actor or an executor.
  ///
  /// See ``observe(options:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or what the source observes is deallocated.
  public nonisolated func observe(
    options: NSKeyValueObservingOptions = [], delivery: KeyValueDelivery, coalescing: KeyValueCoalescing = .each,
    userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    changeHandler: @escaping @isolated(any) @Sendable (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let (observations, pending) = observe(
      options, delivery, coalescing, SourceLocation(file: fileID, line: line),
      ObserverDescription(receiver: nil, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation)),
      changeHandler.isolation,
      SourceTokenHandler(changeHandler).unchecked)
    return .of(observations, pending)
  }

  /// Calls a handler with the old and the new value, on a queue, an actor or an executor, on behalf of a receiver.
  ///
  /// See ``onChange(initial:for:userInfo:isolation:fileID:line:handler:)`` and
  /// ``observe(options:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``. The initial call, too, is made there.
  @discardableResult
  public nonisolated func onChange<Receiver: AnyObject>(
    initial: Bool = false, delivery: KeyValueDelivery, coalescing: KeyValueCoalescing = .each, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    let handle = ValuesHandler(handler).unchecked
    let (observations, pending) = observe(
      .values(initial), delivery, coalescing, SourceLocation(file: fileID, line: line),
      ObserverDescription(
        receiver: receiver, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation)),
      handler.isolation
    ) { change in
      if let values = change.values, let receiver = reference.load() { handle(receiver, values.old, values.new) }
    }
    return reference.token(observations, of: receiver, pending)
  }

  /// Calls a handler with the old and the new value, on a queue, an actor or an executor.
  ///
  /// See ``onChange(initial:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or what the source observes is deallocated.
  public nonisolated func onChange(
    initial: Bool = false, delivery: KeyValueDelivery, coalescing: KeyValueCoalescing = .each,
    userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let handle = TokenValuesHandler(handler).unchecked
    let (observations, pending) = observe(
      .values(initial), delivery, coalescing, SourceLocation(file: fileID, line: line),
      ObserverDescription(receiver: nil, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation)),
      handler.isolation
    ) { change in
      if let values = change.values { handle(values.old, values.new) }
    }
    return .of(observations, pending)
  }
}
