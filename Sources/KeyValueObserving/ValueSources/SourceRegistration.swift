// The registration of an observer of a source.

public import CKVO

extension KeyValueSource {
  /// Registers an observer, and returns the runtime's IDs of its observations: none on failure.
  @inlinable
  func register(
    _ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ description: ObserverDescription,
    _ sink: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> [UInt64] {
    unrecorded {
      isDirect || options.isDisjoint(with: .refusedByOperators)
        ? subscribe(SourceRequest(options, site, description), sink) : registerChecked(options, site, description, sink)
    }
  }

  /// Implements the options that operators do not.
  @usableFromInline
  func registerChecked(
    _ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ description: ObserverDescription,
    _ sink: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> [UInt64] {
    guard !options.contains(.prior) else {
      return refuse(".prior: before a change the value that operators make is not known", site)
    }
    let base = options.subtracting(.refusedByOperators)
    guard options.contains(.distinct) else { return subscribe(SourceRequest(base, site, description), sink) }
    guard let areEqual = equality(of: Value.self) else {
      return refuse(".distinct: \(Value.self) is not Equatable", site)
    }
    return withoutDuplicates(areEqual).subscribe(SourceRequest(base, site, description), sink)
  }

  @usableFromInline
  func refuse(_ reason: String, _ site: SourceLocation) -> [UInt64] {
    raiseFault(KVO_FAULT_INVALID_ARGUMENT, "cannot observe the source of \(origins().text) with \(reason)", site: site)
    return []
  }

  /// Registers a handler for a receiver.
  ///
  /// - Parameter actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  @inlinable
  func receive<Receiver: AnyObject>(
    _ options: NSKeyValueObservingOptions, for receiver: Receiver, on actor: (any Actor)?, _ site: SourceLocation,
    _ userInfo: (any Sendable)?, sets: BoundKey? = nil,
    _ handler: @escaping (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    guard let actor else {
      let description = ObserverDescription(receiver: receiver, note: note(nil, userInfo), sets: sets)
      let observations = register(options, site, description) { change in
        if let receiver = reference.load() { handler(receiver, change) }
      }
      return reference.token(observations, of: receiver)
    }
    let delivery = ActorDelivery<Value>(actor, expectsInitial: options.contains(.initial)) { change in
      if let receiver = reference.load() { handler(receiver, change) }
    }
    let gate = delivery.gate
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: gate.evaluator, sets: sets)
    let observations = register(options, site, description) { change in
      guard gate.isDue else { return delivery.deliver(change) }
      if let receiver = reference.load() { handler(receiver, change) }
    }
    delivery.follow(all: observations)
    return reference.token(observations, of: receiver, delivery.waiting)
  }

  /// Registers a binding, which is the reference of its receiver.
  ///
  /// - Parameters:
  ///   - sets: What the binding sets.
  ///   - direct: Is called with the records of changes of a stored property.
  ///   - handler: Is called with the values of another source, or on the actor.
  @inlinable
  func receive<Receiver: AnyObject>(
    _ options: NSKeyValueObservingOptions, for receiver: Receiver, on actor: (any Actor)?, _ site: SourceLocation,
    _ note: BindingNote, _ binding: ReceiverReference<Receiver>, sets: BoundKey,
    direct: @escaping (UnsafePointer<kvo_raw_change>) -> Void, handler: @escaping (Value) -> Void
  ) -> NSKeyValueObservation {
    // A change of elements has only these; the direct way reads the whole value then.
    let whole = Value.self is any _KeyValueCollection.Type ? options.union(.whole) : options
    if actor != nil {
      return receive(whole, for: receiver, on: actor, site, note, sets: sets) { _, change in
        if let value = change.newValue { handler(value) }
      }
    }
    let description = ObserverDescription(receiver: receiver, note: note.description, sets: sets)
    if let observation = subscribeDirectly?(SourceRequest(options, site, description), direct) {
      return binding.token(observation, of: receiver)
    }
    let observations = register(whole, site, description) { change in
      if let value = change.newValue { handler(value) }
    }
    return binding.token(observations, of: receiver)
  }

  /// Registers a handler that a token keeps.
  @usableFromInline
  func observe(
    _ options: NSKeyValueObservingOptions, on actor: (any Actor)?, _ site: SourceLocation,
    _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    guard let actor else {
      let description = ObserverDescription(receiver: nil, note: nil)
      return .of(register(options, site, description, handler), nil)
    }
    let delivery = ActorDelivery<Value>(actor, expectsInitial: options.contains(.initial), tell: handler)
    let description = ObserverDescription(
      receiver: nil, note: deliveryName(actor), evaluator: delivery.gate.evaluator)
    let observations = register(options, site, description) { change in delivery.deliver(change) }
    delivery.follow(all: observations)
    return .of(observations, delivery.waiting)
  }

  /// Registers a handler whose calls wait for their delivery.
  ///
  /// - Parameter isolation: That of the handler.
  func register(
    _ options: NSKeyValueObservingOptions, _ delivery: Delivery, _ site: SourceLocation,
    _ description: ObserverDescription, _ isolation: (any Actor)?,
    _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> ([UInt64], PendingDelivery?) {
    guard !options.contains(.prior) else {
      return (refuse(".prior and a delivery \(delivery.name): the handler is called after the change", site), nil)
    }
    guard isolation == nil || isolation === delivery.actor else {
      return (refuse("a delivery \(delivery.name): the handler is isolated to \(type(of: isolation!))", site), nil)
    }
    guard delivery.interval != nil else {
      return register(
        options, site, description,
        PendingChanges(
          coalesces: false, expectsInitial: options.contains(.initial), deliver: handler,
          schedule: delivery.scheduler()))
    }
    // Merged changes of elements are a change of the whole collection; and of merged changes the values may be equal, although those of
    // each were not, and the reverse.
    let needed = options.subtracting(.distinct).union(
      Value.self is any _KeyValueCollection.Type ? [.whole, .old, .new] : [.old, .new])
    let limit: NSKeyValueObservingOptions = options.contains(.whole) ? [.old, .new] : options
    let last = LastDelivered { options.contains(.initial) ? nil : read() }
    let areEqual = options.contains(.distinct) && last.isKept ? equality(of: Value.self) : nil
    return register(
      needed, site, description,
      PendingChanges(
        coalesces: true, expectsInitial: options.contains(.initial),
        deliver: { change in
          let told = change.newValue.flatMap { last.exchange($0) }
          // The initial change has no old value.
          let old = change.oldValue.map { told ?? $0 }
          if let areEqual, let old, let new = change.newValue, areEqual(old, new) { return }
          handler(NSKeyValueObservedChange(kind: .setting, newValue: change.newValue, oldValue: old).limited(to: limit))
        }, schedule: delivery.scheduler()))
  }

  private func register(
    _ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ description: ObserverDescription,
    _ pending: PendingChanges<Value>
  ) -> ([UInt64], PendingDelivery?) {
    let observations = register(options, site, description) { change in pending.add(change) }
    pending.follow(all: observations)
    return (observations, pending)
  }
}

extension NSKeyValueObservingOptions {
  /// What operators cannot pass on to the source before them.
  @usableFromInline static let refusedByOperators: NSKeyValueObservingOptions = [
    .prior, .distinct, .collectionChanges, .endsWithObject, .endsWithObserver,
  ]
}

extension PendingChanges {
  /// Follows several observations, whose initial values, if there are any, have all been added.
  func follow(all observations: [UInt64]) {
    follow(observations.first ?? 0, others: Array(observations.dropFirst()))
  }
}

extension ActorDelivery {
  @usableFromInline
  func follow(all observations: [UInt64]) { pending.follow(all: observations) }

  @usableFromInline var waiting: PendingDelivery { pending }
}

extension ReceiverReference {
  /// Makes the token of the observations of a source.
  @usableFromInline
  func token(
    _ observations: [UInt64], of receiver: Receiver, _ delivery: PendingDelivery? = nil
  ) -> NSKeyValueObservation {
    token(observations.first ?? 0, others: Array(observations.dropFirst()), of: receiver, delivery: delivery)
  }
}

extension NSKeyValueObservation {
  /// Makes the token of the observations of a source, which the token keeps.
  @usableFromInline
  static func of(_ observations: [UInt64], _ delivery: PendingDelivery?) -> NSKeyValueObservation {
    ExtendedObservation(observations.first ?? 0, others: Array(observations.dropFirst()), delivery: delivery)
  }
}
