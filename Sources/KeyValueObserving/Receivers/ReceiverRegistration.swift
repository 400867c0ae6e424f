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
    if let actor { return receive(keyPath, options, reference, receiver, on: actor, site, userInfo, handler) }
    let description = ObserverDescription(receiver: receiver, note: note(nil, userInfo))
    let observation = observe(keyPath, options, site, description) { object, change in
      guard let receiver = reference.load() else { return }
      handler(receiver, object, change)
    }
    return reference.token(observation, of: receiver)
  }

  /// Registers a handler for a receiver on an actor.
  @inlinable
  nonisolated func receive<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ reference: ReceiverReference<Receiver>,
    _ receiver: Receiver, on actor: any Actor, _ site: SourceLocation, _ userInfo: (any Sendable)?,
    _ handler: @escaping (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let object = UnretainedObject(self)
    let delivery = ActorDelivery<Value>(actor, expectsInitial: options.contains(.initial)) { change in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, change)
    }
    let gate = delivery.gate
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: gate.evaluator)
    let observation = observe(keyPath, options, site, description) { object, change in
      guard gate.isDue else { return delivery.deliver(change) }
      guard let receiver = reference.load() else { return }
      handler(receiver, object, change)
    }
    delivery.follow(observation)
    return reference.token(observation, of: receiver, delivery)
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
