// A source whose observers are called on a queue, an actor or an executor.

public import Dispatch
public import Foundation

extension KeyValueSource where Value: Sendable {
  /// Returns this source with observers that are called on a dispatch queue.
  ///
  /// ```swift
  /// document.source(\.title).delivered(on: queue).onChange(for: self) { me, old, new in me.save(new) }
  /// ```
  /// The handler is called later, never within the setter. Changes are delivered one after the other, in the order in which they were
  /// made and with the values as they were, also on a queue that runs several blocks at once. What waits when the observation ends is
  /// dropped. The main queue is also that of the main actor. An addition of this library.
  public func delivered(on queue: DispatchQueue) -> KeyValueDeliveredSource<Value> { .init(self, Delivery(on: queue)) }

  /// Returns this source with observers that are called on an operation queue. While it is suspended, changes wait.
  ///
  /// See ``delivered(on:)-(DispatchQueue)``.
  @_disfavoredOverload  // so that .main is the dispatch queue
  public func delivered(on queue: OperationQueue) -> KeyValueDeliveredSource<Value> { .init(self, Delivery(on: queue)) }

  /// Returns this source with observers that are called on an actor, such as `MainActor.shared`.
  ///
  /// Unlike a handler with the isolation of its caller, they are called later also if the change is made on the actor. See
  /// ``delivered(on:)-(DispatchQueue)``.
  public func delivered(on actor: any Actor) -> KeyValueDeliveredSource<Value> { .init(self, Delivery(on: actor)) }

  /// Returns this source with observers that are called on a task executor.
  ///
  /// See ``delivered(on:)-(DispatchQueue)``.
  @_disfavoredOverload  // a queue may be an executor
  public func delivered(on executor: any TaskExecutor) -> KeyValueDeliveredSource<Value> {
    .init(self, Delivery(on: executor))
  }

  /// Returns this source with observers that are called on a serial executor, as an actor's jobs are.
  ///
  /// See ``delivered(on:)-(DispatchQueue)``.
  @_disfavoredOverload  // a queue may be an executor
  public func delivered(on executor: any SerialExecutor) -> KeyValueDeliveredSource<Value> {
    .init(self, Delivery(on: executor))
  }
}

/// A source whose observers are called on a queue, an actor or an executor, which ``KeyValueSource/delivered(on:)-(DispatchQueue)`` makes.
public struct KeyValueDeliveredSource<Value: Sendable> {
  private let source: KeyValueSource<Value>
  private var delivery: Delivery

  init(_ source: KeyValueSource<Value>, _ delivery: Delivery) { (self.source, self.delivery) = (source, delivery) }

  /// Returns this source with changes that are merged while they wait.
  ///
  /// ```swift
  /// model.source(\.progress).delivered(on: .main).coalesced(every: .milliseconds(16)).onChange { old, new in print(new) }
  /// ```
  /// Pending changes are delivered as one, with the new value of the last. The old value is the one that the observer got last, or, if
  /// values of this type may hold objects, that of the first change. Changes of a collection become a setting of the whole collection.
  ///
  /// - Parameter interval: The least time between two calls of an observer. Without one, and if it is negative, changes are pending only
  ///   until the queue, the actor or the executor is free.
  public func coalesced(every interval: Duration = .zero) -> KeyValueDeliveredSource {
    var merged = self
    merged.delivery.interval = interval
    return merged
  }

  /// Observes the source on behalf of a receiver.
  ///
  /// ```swift
  /// model.source(\.progress).delivered(on: .main).coalesced().observe(options: [.new], for: self) { me, change in
  ///   me.show(change.newValue ?? 0)
  /// }
  /// ```
  /// The receiver and the end of the observation are those of
  /// ``KeyValueObservable/observe(_:options:for:userInfo:isolation:fileID:line:handler:)``: the handler is called while the receiver and
  /// what the source observes live.
  ///
  /// - Parameters:
  ///   - options: Which values a change includes. `.initial` is delivered first, in the same way. `.prior` makes no sense, because the
  ///     handler is called after the change: it is fault KVO0008, and nothing is observed.
  ///   - receiver: An instance of any class that several threads may use. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that observes, unless it is named here.
  ///   - handler: The closure to call. If it is isolated to an actor, the delivery has to be on that actor, or for the main actor on the
  ///     main queue; otherwise it is fault KVO0008.
  /// - Returns: The token, whose release ends nothing.
  @discardableResult
  public nonisolated func observe<Receiver: AnyObject & Sendable>(
    options: NSKeyValueObservingOptions = [], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let handle = SourceHandler(handler).unchecked
    return receive(
      options, for: receiver, userInfo, isolation, SourceLocation(file: fileID, line: line), handler.isolation, handle)
  }

  /// Observes the source.
  ///
  /// See ``observe(options:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or what the source observes is deallocated.
  public nonisolated func observe(
    options: NSKeyValueObservingOptions = [], isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, changeHandler: @escaping @isolated(any) @Sendable (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    keep(
      options, isolation, SourceLocation(file: fileID, line: line), changeHandler.isolation,
      SourceTokenHandler(changeHandler).unchecked)
  }

  /// Calls a handler with the old and the new value when the source has changed, on behalf of a receiver.
  ///
  /// See ``KeyValueSource/onChange(initial:for:userInfo:isolation:fileID:line:handler:)`` and
  /// ``observe(options:for:userInfo:isolation:fileID:line:handler:)``. The initial call, too, is made later.
  @discardableResult
  public nonisolated func onChange<Receiver: AnyObject & Sendable>(
    initial: Bool = false, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let (changes, handle) = (ValueChanges<Value>(merging: delivery.interval != nil), ValuesHandler(handler).unchecked)
    return receive(
      .values(of: Value.self, initial), for: receiver, userInfo, isolation, SourceLocation(file: fileID, line: line),
      handler.isolation,
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
  public nonisolated func onChange(
    initial: Bool = false, isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Value, Value) -> Void
  ) -> NSKeyValueObservation {
    let (changes, handle) = (
      ValueChanges<Value>(merging: delivery.interval != nil), TokenValuesHandler(handler).unchecked
    )
    return keep(
      .values(of: Value.self, initial), isolation, SourceLocation(file: fileID, line: line), handler.isolation,
      remembering: changes.last
    ) { change in
      if let values = changes.values(of: change) { handle(values.old, values.new) }
    }
  }

  private func receive<Receiver: AnyObject>(
    _ options: NSKeyValueObservingOptions, for receiver: Receiver, _ userInfo: (any Sendable)?,
    _ isolation: (any Actor)?, _ site: SourceLocation, _ handlers: (any Actor)?,
    remembering last: RememberedValue? = nil,
    _ handler: @escaping (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    if let last { reference.end.remember(last) }
    let description = ObserverDescription(
      receiver: receiver, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation),
      end: reference.end)
    let observations = source.register(options, delivery, site, description, handlers, reference.end) { change in
      if let receiver = reference.load() { handler(receiver, change) }
    }
    return reference.token(observations, of: receiver)
  }

  private func keep(
    _ options: NSKeyValueObservingOptions, _ isolation: (any Actor)?, _ site: SourceLocation, _ handlers: (any Actor)?,
    remembering last: RememberedValue? = nil, _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let end = ObservationEnd()
    if let last { end.remember(last) }
    let description = ObserverDescription(
      receiver: nil, note: delivery.name, evaluator: delivery.evaluator(isolation), end: end)
    return .keeping(source.register(options, delivery, site, description, handlers, end, handler), end)
  }
}
