// The registration of an observation with a receiver.

extension KeyValueObservable {
  /// Registers a handler for a receiver.
  ///
  /// - Parameter actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  @inlinable
  @discardableResult
  nonisolated func receive<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, for receiver: Receiver,
    on actor: (any Actor)?, _ site: SourceLocation, userInfo: (any Sendable)? = nil,
    _ handler: @escaping (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    let observation = register(keyPath, options, receiver, on: actor, site, userInfo, reference.end) { object, change in
      if let receiver = reference.load() { handler(receiver, object, change) }
    }
    return reference.token(observation, of: receiver)
  }

  /// Registers a handler that is called on an actor, or on the thread that makes the change. Returns 0 on failure.
  @inlinable
  @inline(__always)  // so that the handler is no call of its own
  nonisolated func register<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ receiver: AnyObject?,
    on actor: (any Actor)?, _ site: SourceLocation, _ userInfo: (any Sendable)?, _ end: ObservationEnd,
    _ handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> UInt64 {
    guard let actor else {
      let description = ObserverDescription(receiver: receiver, note: note(nil, userInfo))
      return observe(keyPath, options, site, description, handler)
    }
    let object = UnretainedObject(self)
    let delivery = ActorDelivery<Value>(actor, end, expectsInitial: options.contains(.initial)) { change in
      if let object = object.load() { handler(object, change) }
    }
    let gate = delivery.gate
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: gate.evaluator)
    return observe(keyPath, options, site, description) { object, change in
      if gate.isDue { handler(object, change) } else { delivery.deliver(change) }
    }
  }
}

/// What reports and the graph say about a delivery on an actor.
@usableFromInline
func deliveryName(_ actor: any Actor) -> String { "on \(TypeNames.name(of: type(of: actor)))" }

/// What reports and the graph say about an observation.
@usableFromInline
func note(_ delivery: String?, _ userInfo: (any Sendable)?) -> String? {
  let own = userInfo.map { ($0 as? BindingNote)?.description ?? "userInfo \($0)" }
  let parts = [delivery, own].compactMap(\.self)
  return parts.isEmpty ? nil : parts.joined(separator: ", ")
}
