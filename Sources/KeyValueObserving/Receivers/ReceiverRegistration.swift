// The registration of an observation with a receiver.

extension KeyValueObservable {
  /// Registers a handler for a receiver.
  ///
  /// - Parameters:
  ///   - actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  ///   - last: What the handler remembers of the values, if it does.
  @inlinable
  @discardableResult
  nonisolated func receive<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, for receiver: Receiver,
    on actor: (any Actor)?, _ site: SourceLocation, userInfo: (any Sendable)? = nil,
    remembering last: RememberedValue? = nil,
    _ handler: @escaping (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    if let last { reference.end.remember(last) }
    guard let actor else {
      let description = ObserverDescription(receiver: receiver, note: note(nil, userInfo), end: reference.end)
      let observation = observe(keyPath, options, site, description) { object, change in
        if let receiver = reference.load() { handler(receiver, object, change) }
      }
      return reference.token(observation, of: receiver)
    }
    let object = UnretainedObject(self)
    let delivery = ActorDelivery<Value>(actor, reference.end, expectsInitial: options.contains(.initial)) { change in
      if let receiver = reference.load(), let object = object.load() { handler(receiver, object, change) }
    }
    let gate = delivery.gate
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: gate.evaluator,
      end: reference.end)
    // One closure, so that a change made on the actor is one call.
    let observation = observe(keyPath, options, site, description) { object, change in
      guard gate.isDue else { return delivery.deliver(change) }
      if let receiver = reference.load() { handler(receiver, object, change) }
    }
    return reference.token(observation, of: receiver)
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
