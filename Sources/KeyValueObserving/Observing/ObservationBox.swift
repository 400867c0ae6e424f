// The Swift object that the runtime retains for an observation, and its registration.

public import CKVO

/// The object that the runtime retains for an observation and releases when the observation is destroyed.
@usableFromInline
class ObservationBox {
  @usableFromInline typealias Deliver = (ObservationBox, UnsafePointer<kvo_raw_change>) -> Void

  /// Receives the record of a change. It is a closure, not a method, so that it is specialised where `observe` is called. The box
  /// is a parameter, so the closure captures nothing and needs no allocation.
  @usableFromInline let deliver: Deliver
  /// Set at the registration: where the expression is evaluated, and whether it is read again when a change is delivered.
  private var evaluator: ActorGate?
  private var readsAgain = false

  @usableFromInline
  init(deliver: @escaping Deliver) { self.deliver = deliver }

  /// For an expression: returns its value in newly allocated storage, or `nil` if the object is gone.
  func evaluate() -> UnsafeMutableRawPointer? { nil }

  /// Frees the storage that `evaluate` returned.
  func release(_ value: UnsafeMutableRawPointer) {}

  /// Returns whether two values that `evaluate` returned are equal; `false` if they cannot be compared.
  func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool { false }

  /// For an expression that ends at a property: makes of a value of that property what `evaluate` returns; `nil` if the object is gone.
  func value(of property: OpaquePointer, at storage: UnsafeRawPointer) -> UnsafeMutableRawPointer? { nil }

  /// Receives a change of an expression that is evaluated on an actor. One of the last property of a path comes on any thread.
  private func deliverOnActor(_ change: UnsafePointer<kvo_raw_change>) {
    guard readsAgain, !evaluator!.mayEvaluate else { return deliver(self, change) }
    if !change.pointee.is_prior { kvo_unsettle(change.pointee.observation) }
  }

  private static func makeOperations(_ change: (inout kvo_observer_ops) -> Void) -> UnsafePointer<kvo_observer_ops> {
    let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_observer_ops(
        callback: { change, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.deliver($0, change) } },
        destroy: { box($0!).release() },
        abandon: { box($0!).release() },
        evaluate: { box($0)._withUnsafeGuaranteedRef { $0.evaluate() } },
        release: { value, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.release(value) } },
        same: { first, second, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.areEqual(first, second) } },
        is_here: nil, ask: nil,
        of_property: { property, value, pointer in
          box(pointer)._withUnsafeGuaranteedRef { $0.value(of: property, at: value) }
        }))
    change(&operations.pointee)
    return UnsafePointer(operations)
  }

  private static nonisolated(unsafe) let operations = makeOperations { _ in }

  private static nonisolated(unsafe) let operationsOnActor = makeOperations {
    $0.callback = { change, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.deliverOnActor(change) } }
    $0.is_here = { box($0)._withUnsafeGuaranteedRef { $0.evaluator!.mayEvaluate } }
    $0.ask = { observation, pointer in
      box(pointer)._withUnsafeGuaranteedRef { $0.evaluator!.run { kvo_settle(observation) } }
    }
  }

  /// Registers the box for a key, or for its expression if `key` is `nil`. Returns 0 on failure.
  func register(
    with object: KeyValueObjectReference, key: UInt64?, keyPath: UnsafePointer<CChar>, options: kvo_options,
    context: UnsafeMutableRawPointer? = nil, observer described: ObserverDescription.InC = .none, site: SourceLocation,
    keepsLast: Bool = false, hasGaps: Bool = false
  ) -> kvo_observation {
    (evaluator, readsAgain) = (described.evaluator, described.readsAgain)
    var observer = kvo_binding_observer(
      key_path: keyPath, options: options, ops: evaluator == nil ? Self.operations : Self.operationsOnActor,
      user_data: Unmanaged.passRetained(self).toOpaque(), context: context, identity: described.identity,
      file: site.cFile, line: site.cLine, deliver: nil, closure: nil, note: described.note,
      is_receiver: described.isReceiver, is_binding: described.sets != nil, takes_word: false, has_gaps: hasGaps,
      target: described.sets?.object, target_key: described.sets?.key ?? 0)
    var observation: kvo_observation = 0
    let status =
      if let key {
        kvo_binding_observe_key(object, key, &observer, &observation)
      } else {
        kvo_binding_observe_tracked(object, &observer, keepsLast, &observation)
      }
    guard status != KVO_OK else { return RegistrationLog.noted(observation) }
    raiseRegistrationFault(status, object: object, keyPath: String(cString: keyPath), site: site)
    return 0
  }
}

private func box(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<ObservationBox> { .fromOpaque(pointer) }

/// A closure that the runtime calls itself, as compiled Swift code does: the observer of a stored property.
///
/// The runtime holds the closure and a function that reads the record of a change for it: two functions and one context.
@usableFromInline
struct DirectClosure {
  @usableFromInline let deliver, closure: UInt
  /// The context of the closure, or that of `deliver` if there is no closure. It is retained, for the runtime.
  @usableFromInline let context: UInt
  /// For a set of a value of 8 bytes the runtime makes the change itself, and calls the closure without `deliver`.
  @usableFromInline let takesWord: Bool

  /// Register it once: otherwise the context is leaked.
  ///
  /// - Parameter deliver: Reads a change and calls the closure. It captures nothing.
  @inlinable
  @inline(__always)
  init<Object: KeyValueObservable, Value>(
    _ closure: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void,
    deliver: @escaping (UnsafePointer<kvo_raw_change>, (Object, NSKeyValueObservedChange<Value>) -> Void) -> Void
  ) {
    let pair = DirectPair(deliver: deliver, closure: closure)
    guard unsafeBitCast(pair, to: DirectPair<Object, Value>.Words.self).context == 0 else {
      // It has a context where it is not specialised: the types.
      self.init { deliver($0, closure) }
      return
    }
    let words = takeWords(of: pair, as: DirectPair<Object, Value>.Words.self)
    // Constants. As an argument of a type that is generic here the change is passed by its address.
    let layout = MemoryLayout<NSKeyValueObservedChange<Value>>.self
    let takesWord =
      _isPOD(Value.self) && MemoryLayout<Value>.size == 8 && MemoryLayout<Value>.alignment == 8
      && MemoryLayout<Value?>.size == 9 && layout.size == MemoryLayout<kvo_word_change>.offset(of: \.is_prior)! + 1
      && layout.offset(of: \.newValue) == MemoryLayout<kvo_word_change>.offset(of: \.new_value)
      && layout.offset(of: \.oldValue) == MemoryLayout<kvo_word_change>.offset(of: \.old_value)
      && layout.offset(of: \.indexes) == MemoryLayout<kvo_word_change>.offset(of: \.indexes)
    self.init(deliver: words.deliver, closure: words.closure, context: words.closureContext, takesWord: takesWord)
  }

  @inlinable
  @inline(__always)
  init(_ deliver: @escaping (UnsafePointer<kvo_raw_change>) -> Void) {
    let words = takeWords(of: DirectFunction(deliver: deliver), as: (deliver: UInt, context: UInt).self)
    self.init(deliver: words.deliver, closure: 0, context: words.context, takesWord: false)
  }

  @inlinable
  init(deliver: UInt, closure: UInt, context: UInt, takesWord: Bool) {
    (self.deliver, self.closure, self.context, self.takesWord) = (deliver, closure, context, takesWord)
  }

  private static nonisolated(unsafe) let operations: UnsafePointer<kvo_observer_ops> = {
    func release(_ context: UnsafeMutableRawPointer?) {
      if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
    }
    let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_observer_ops(
        callback: { _, _ in }, destroy: { release($0) }, abandon: { release($0) }, evaluate: nil, release: nil,
        same: nil, is_here: nil, ask: nil, of_property: nil))
    return UnsafePointer(operations)
  }()

  /// Registers the closure for a key. Returns 0 on failure.
  func register(
    with object: KeyValueObjectReference, _ property: KeyValueProperty, _ options: kvo_options, _ site: SourceLocation,
    _ observer: ObserverDescription?
  ) -> kvo_observation {
    ObserverDescription.withC(observer) { register(with: object, property, options, site, $0) }
  }

  private func register(
    with object: KeyValueObjectReference, _ property: KeyValueProperty, _ options: kvo_options, _ site: SourceLocation,
    _ described: ObserverDescription.InC
  ) -> kvo_observation {
    var observer = kvo_binding_observer(
      key_path: property.cName, options: options, ops: Self.operations,
      user_data: UnsafeMutableRawPointer(bitPattern: context), context: nil, identity: described.identity,
      file: site.cFile, line: site.cLine, deliver: unsafeBitCast(deliver, to: kvo_raw_callback.self),
      closure: unsafeBitCast(closure, to: kvo_raw_callback?.self), note: described.note,
      is_receiver: described.isReceiver, is_binding: described.sets != nil, takes_word: takesWord, has_gaps: false,
      target: described.sets?.object, target_key: described.sets?.key ?? 0)
    var observation: kvo_observation = 0
    let status = kvo_binding_observe_key(object, property.key, &observer, &observation)
    guard status != KVO_OK else { return RegistrationLog.noted(observation) }
    raiseRegistrationFault(status, object: object, keyPath: String(cString: property.cName), site: site)
    return 0
  }
}

// A closure is stored in a struct before its words are read, because a generic function is passed a thunk instead, which has a context.

@usableFromInline
struct DirectFunction {
  @usableFromInline let deliver: (UnsafePointer<kvo_raw_change>) -> Void

  @inlinable
  init(deliver: @escaping (UnsafePointer<kvo_raw_change>) -> Void) { self.deliver = deliver }
}

@usableFromInline
struct DirectPair<Object: KeyValueObservable, Value> {
  @usableFromInline
  let deliver: (UnsafePointer<kvo_raw_change>, (Object, NSKeyValueObservedChange<Value>) -> Void) -> Void
  @usableFromInline let closure: (Object, NSKeyValueObservedChange<Value>) -> Void

  @usableFromInline typealias Words = (deliver: UInt, context: UInt, closure: UInt, closureContext: UInt)

  @inlinable
  init(
    deliver: @escaping (UnsafePointer<kvo_raw_change>, (Object, NSKeyValueObservedChange<Value>) -> Void) -> Void,
    closure: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
  ) {
    (self.deliver, self.closure) = (deliver, closure)
  }
}

/// Returns the words that a value consists of. What the value refers to stays retained.
@inlinable
@inline(__always)
func takeWords<Value, Words>(of value: __owned Value, as type: Words.Type) -> Words {
  withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
    memory.initializeElement(at: 0, to: value)
    return UnsafeRawPointer(memory.baseAddress!).load(as: Words.self)
  }
}
