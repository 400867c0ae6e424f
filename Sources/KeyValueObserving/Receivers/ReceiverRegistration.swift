// The registration of an observation with a receiver.

import CKVO

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

  @usableFromInline
  nonisolated func receive<Value, Receiver: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ reference: ReceiverReference<Receiver>,
    _ receiver: Receiver, on actor: any Actor, _ site: SourceLocation, _ userInfo: (any Sendable)?,
    _ handler: @escaping (Receiver, Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let object = UnretainedObject(self)
    let delivery = ActorDelivery<Value>(actor) { change in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, change)
    }
    let description = ObserverDescription(receiver: receiver, note: note("on \(type(of: actor))", userInfo))
    let observation = observe(keyPath, options, site, description) { _, change in delivery.deliver(change) }
    delivery.follow(observation)
    return reference.token(observation, of: receiver)
  }
}

/// What reports and the graph say about an observation.
@usableFromInline
func note(_ delivery: String?, _ userInfo: (any Sendable)?) -> String? {
  let parts = [delivery, userInfo.map { "userInfo \($0)" }].compactMap(\.self)
  return parts.isEmpty ? nil : parts.joined(separator: ", ")
}
