// Observation with a delivery on a queue, an actor or an executor.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Observes a key path on behalf of a receiver, and calls the handler on a queue, an actor or an executor.
  ///
  /// ```swift
  /// model.observe(\.progress, options: [.new], delivery: .on(DispatchQueue.main), coalescing: .latest, for: self) { me, model, change in
  ///   me.show(change.newValue ?? 0)
  /// }
  /// ```
  /// The receiver, the object and the end of the observation are those of
  /// ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``. The handler is called later, never within the setter, while
  /// receiver and object live. An addition of this library.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe.
  ///   - options: Which values a change includes. `.initial` is delivered first, in the same way. `.prior` makes no sense, because the
  ///     handler is called after the change: it is fault KVO0008, and nothing is observed.
  ///   - delivery: Where the handler is called.
  ///   - coalescing: What happens to changes that wait.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observation.
  ///   - isolation: Where an expression is evaluated: on the actor of the code that observes, unless it is named here.
  ///   - handler: The closure to call. If it is isolated to an actor, `delivery` has to name that actor, or for the main actor the main
  ///     queue; otherwise it is fault KVO0008.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public nonisolated func observe<Value: Sendable, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], delivery: KeyValueDelivery,
    coalescing: KeyValueCoalescing = .each, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    let reference = ReceiverReference(receiver)
    let handle = ChangeHandler(handler).unchecked
    let description = ObserverDescription(
      receiver: receiver, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation))
    let (observation, pending) = observe(
      keyPath, options, delivery, coalescing, SourceLocation(file: fileID, line: line), description, handler.isolation
    ) { object, change in
      if let receiver = reference.load() { handle(receiver, object, change) }
    }
    return reference.token(observation, of: receiver, delivery: pending)
  }

  /// Observes a key path, and calls the handler on a queue, an actor or an executor.
  ///
  /// See ``observe(_:options:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or the object is deallocated.
  @inlinable
  public nonisolated func observe<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [], delivery: KeyValueDelivery,
    coalescing: KeyValueCoalescing = .each, userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    changeHandler: @escaping @isolated(any) @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    let description = ObserverDescription(
      receiver: nil, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation))
    let (observation, pending) = observe(
      keyPath, options, delivery, coalescing, SourceLocation(file: fileID, line: line), description,
      changeHandler.isolation, TokenHandler(changeHandler).unchecked)
    return .delivered(observation, pending)
  }

  /// Calls a handler with the old and the new value, on a queue, an actor or an executor, on behalf of a receiver.
  ///
  /// See ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)`` and
  /// ``observe(_:options:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``. The initial call, too, is made there.
  @inlinable
  @discardableResult
  public nonisolated func onChange<Value: Sendable, Receiver: AnyObject>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, delivery: KeyValueDelivery,
    coalescing: KeyValueCoalescing = .each, for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) @Sendable (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    let reference = ReceiverReference(receiver)
    let handle = ValuesHandler(handler).unchecked
    let description = ObserverDescription(
      receiver: receiver, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation))
    let options: NSKeyValueObservingOptions = initial ? [.whole, .initial] : .whole
    let (observation, pending) = observe(
      keyPath, options, delivery, coalescing, SourceLocation(file: fileID, line: line), description, handler.isolation
    ) { _, change in
      if let values = change.values, let receiver = reference.load() { handle(receiver, values.old, values.new) }
    }
    return reference.token(observation, of: receiver, delivery: pending)
  }

  /// Calls a handler with the old and the new value, on a queue, an actor or an executor.
  ///
  /// See ``onChange(of:initial:delivery:coalescing:for:userInfo:isolation:fileID:line:handler:)``.
  ///
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or the object is deallocated.
  @inlinable
  public nonisolated func onChange<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, initial: Bool = false, delivery: KeyValueDelivery,
    coalescing: KeyValueCoalescing = .each, userInfo: (any Sendable)? = nil, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping @isolated(any) @Sendable (Value, Value) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    let handle = TokenValuesHandler(handler).unchecked
    let description = ObserverDescription(
      receiver: nil, note: note(delivery.name, userInfo), evaluator: delivery.evaluator(isolation))
    let options: NSKeyValueObservingOptions = initial ? [.whole, .initial] : .whole
    let (observation, pending) = observe(
      keyPath, options, delivery, coalescing, SourceLocation(file: fileID, line: line), description, handler.isolation
    ) { _, change in
      if let values = change.values { handle(values.old, values.new) }
    }
    return .delivered(observation, pending)
  }

  /// Registers an observation whose changes wait for their delivery. The observation is 0 on failure.
  @inlinable
  nonisolated func observe<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ delivery: KeyValueDelivery,
    _ coalescing: KeyValueCoalescing, _ site: SourceLocation, _ description: ObserverDescription,
    _ isolation: (any Actor)?, _ handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> (UInt64, PendingDelivery?) {
    if options.contains(.prior) {
      let reason = ".prior and a delivery \(delivery.name): the handler is called after the change"
      raiseRefusedOptions(name(ofObserved: keyPath), reason, site)
      return (0, nil)
    }
    if let isolation, isolation !== delivery.actor {
      let reason = "a delivery \(delivery.name): the handler is isolated to \(type(of: isolation))"
      raiseRefusedOptions(name(ofObserved: keyPath), reason, site)
      return (0, nil)
    }
    var base = options
    let merges = coalescing == .latest
    // Merged changes of elements are a change of the whole collection.
    if merges, Value.self is any _KeyValueCollection.Type { base.formUnion(.whole) }
    // Of merged changes the values may be equal, although those of each were not.
    let areEqual = merges && options.contains(.distinct) ? equality(of: Value.self) : nil
    if areEqual != nil { base.formUnion([.old, .new]) }
    let limit: NSKeyValueObservingOptions = options.contains(.whole) ? [.old, .new] : options
    let (object, schedule) = (UnretainedObject(self), delivery.schedule)
    let pending = PendingChanges<Value>(coalesces: merges, expectsInitial: options.contains(.initial)) { change in
      if let areEqual, let old = change.oldValue, let new = change.newValue, areEqual(old, new) { return }
      if let object = object.load() { handler(object, change.limited(to: limit)) }
    } schedule: { pending in
      schedule { [weak pending] in pending?.deliverAll() }
    }
    let observation = observe(keyPath, base, site, description) { _, change in pending.add(change) }
    pending.follow(observation)
    return (observation, pending)
  }
}
