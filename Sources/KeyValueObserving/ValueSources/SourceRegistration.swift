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
      options.isDisjoint(with: .refusedByOperators)
        ? subscribe(SourceRequest(options, site, description), sink) : registerChecked(options, site, description, sink)
    }
  }

  /// Implements the options that operators do not, and refuses those that contradict each other.
  @usableFromInline
  func registerChecked(
    _ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ description: ObserverDescription,
    _ sink: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> [UInt64] {
    guard !options.contains(.endsWithObserver) || description.identity != nil else {
      return refuse(".endsWithObserver: the closure has no receiver", site)
    }
    let areEqual = options.contains(.distinct) ? equality(of: Value.self) : nil
    // The object implements the options for one key path, but compares no whole collections.
    if isOfKeyPath, areEqual == nil || !options.contains(.whole) {
      return subscribe(SourceRequest(options, site, description), sink)
    }
    guard !options.contains(.prior) else {
      return refuse(".prior: before a change the value that operators make is not known", site)
    }
    let base = options.subtracting(.refusedByOperators)
    guard options.contains(.distinct) else { return subscribe(SourceRequest(base, site, description), sink) }
    guard let areEqual else { return refuse(".distinct: \(Value.self) is not Equatable", site) }
    return withoutDuplicates(areEqual).subscribe(SourceRequest(base, site, description), sink)
  }

  @usableFromInline
  func refuse(_ reason: String, _ site: SourceLocation) -> [UInt64] {
    raiseFault(KVO_FAULT_INVALID_ARGUMENT, "cannot observe the source of \(origins().text) with \(reason)", site: site)
    return []
  }

  /// Registers a handler for a receiver.
  ///
  /// - Parameters:
  ///   - actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  ///   - last: What the handler remembers of the values, if it does.
  @inlinable
  func receive<Receiver: AnyObject>(
    _ options: NSKeyValueObservingOptions, for receiver: Receiver, on actor: (any Actor)?, _ site: SourceLocation,
    _ userInfo: (any Sendable)?, remembering last: RememberedValue? = nil,
    _ handler: @escaping (Receiver, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    if let last { reference.end.remember(last) }
    let observations = register(options, receiver, on: actor, site, userInfo, reference.end) { change in
      if let receiver = reference.load() { handler(receiver, change) }
    }
    return reference.token(observations, of: receiver)
  }

  /// Registers a handler that a token keeps.
  @usableFromInline
  func observe(
    _ options: NSKeyValueObservingOptions, on actor: (any Actor)?, _ site: SourceLocation,
    remembering last: RememberedValue? = nil, _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let end = ObservationEnd()
    if let last { end.remember(last) }
    return .keeping(register(options, nil, on: actor, site, nil, end, handler), end)
  }

  /// Registers a handler that is called on an actor, or on the thread that makes the change.
  @inlinable
  func register(
    _ options: NSKeyValueObservingOptions, _ receiver: AnyObject?, on actor: (any Actor)?, _ site: SourceLocation,
    _ userInfo: (any Sendable)?, _ end: ObservationEnd, sets: BoundKey? = nil,
    _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> [UInt64] {
    guard let actor else {
      return register(
        options, site, ObserverDescription(receiver: receiver, note: note(nil, userInfo), sets: sets, end: end),
        handler)
    }
    let delivery = ActorDelivery<Value>(actor, end, expectsInitial: options.contains(.initial), tell: handler)
    let gate = delivery.gate
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: gate.evaluator, sets: sets,
      end: end)
    return register(options, site, description) { change in
      if gate.isDue { handler(change) } else { delivery.deliver(change) }
    }
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
  ) {
    // A change of elements has only these; the direct way reads the whole value then.
    let whole = options.union(.whole(ifNeededFor: Value.self))
    let set: (NSKeyValueObservedChange<Value>) -> Void = { change in
      if let value = change.newValue { handler(value) }
    }
    if actor == nil, let subscribeDirectly {
      let description = ObserverDescription(receiver: receiver, note: note.description, sets: sets)
      if let observation = subscribeDirectly(SourceRequest(options, site, description), direct) {
        return binding.follow(observation, of: receiver)
      }
    }
    let observations = register(whole, receiver, on: actor, site, note, binding.end, sets: sets, set)
    binding.follow(observations.first ?? 0, Array(observations.dropFirst()), of: receiver)
  }

  /// Registers a handler whose calls wait for their delivery.
  ///
  /// - Parameter isolation: That of the handler.
  func register(
    _ options: NSKeyValueObservingOptions, _ delivery: Delivery, _ site: SourceLocation,
    _ description: ObserverDescription, _ isolation: (any Actor)?, _ end: ObservationEnd,
    _ handler: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> [UInt64] {
    guard !options.contains(.prior) else {
      return refuse(".prior and a delivery \(delivery.name): the handler is called after the change", site)
    }
    guard isolation == nil || isolation === delivery.actor else {
      return refuse("a delivery \(delivery.name): the handler is isolated to \(type(of: isolation!))", site)
    }
    guard delivery.interval != nil else {
      return register(
        options, site, description,
        PendingChanges(
          end, coalesces: false, expectsInitial: options.contains(.initial), on: delivery.actor, deliver: handler,
          schedule: delivery.scheduler()))
    }
    // Merged changes of elements are a change of the whole collection; and of merged changes the values may be equal, although those of
    // each were not, and the reverse.
    let needed = options.subtracting(.distinct).union(.values(of: Value.self))
    let limit: NSKeyValueObservingOptions = options.contains(.whole) ? [.old, .new] : options
    let last = LastDelivered { options.contains(.initial) ? nil : read() }
    end.remember(last)
    let areEqual = options.contains(.distinct) && last.isKept ? equality(of: Value.self) : nil
    return register(
      needed, site, description,
      PendingChanges(
        end, coalesces: true, expectsInitial: options.contains(.initial), on: delivery.actor,
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
  ) -> [UInt64] {
    register(options, site, description) { change in pending.add(change) }
  }
}

extension NSKeyValueObservingOptions {
  /// What operators cannot pass on to the source before them.
  @usableFromInline static let refusedByOperators: NSKeyValueObservingOptions = [
    .prior, .distinct, .collectionChanges, .endsWithObject, .endsWithObserver,
  ]
}
