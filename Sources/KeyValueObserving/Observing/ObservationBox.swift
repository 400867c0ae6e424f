// The Swift object that the runtime retains for an observation, and its registration.

public import CKVO

/// The object that the runtime retains for an observation and releases when the observation is destroyed.
@usableFromInline
class ObservationBox {
  @usableFromInline typealias Deliver = (ObservationBox, UnsafePointer<kvo_raw_change>) -> Void

  /// Receives the record of a change. It is a closure, not a method, so that it is specialised where `observe` is called. The box
  /// is a parameter, so the closure captures nothing and needs no allocation.
  @usableFromInline let deliver: Deliver

  @usableFromInline
  init(deliver: @escaping Deliver) { self.deliver = deliver }

  /// For an expression: returns its value in newly allocated storage, or `nil` if the object is gone.
  func evaluate() -> UnsafeMutableRawPointer? { nil }

  /// Frees the storage that `evaluate` returned.
  func release(_ value: UnsafeMutableRawPointer) {}

  private static nonisolated(unsafe) let operations: UnsafePointer<kvo_observer_ops> = {
    func box(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<ObservationBox> { .fromOpaque(pointer) }
    let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_observer_ops(
        callback: { change, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.deliver($0, change) } },
        destroy: { box($0).release() },
        abandon: { box($0).release() },
        evaluate: { box($0)._withUnsafeGuaranteedRef { $0.evaluate() } },
        release: { value, pointer in box(pointer)._withUnsafeGuaranteedRef { $0.release(value) } }))
    return UnsafePointer(operations)
  }()

  /// Registers the box for a key, or for its expression if `key` is `nil`. Returns 0 on failure.
  func register(
    with object: KeyValueObjectReference, key: UInt64?, keyPath: UnsafePointer<CChar>, options: kvo_options,
    context: UnsafeMutableRawPointer? = nil, identity: kvo_observer_identity = .init(), site: SourceLocation,
    keepsLast: Bool = false
  ) -> kvo_observation {
    var observer = kvo_binding_observer(
      key_path: keyPath, options: options, ops: Self.operations,
      user_data: Unmanaged.passRetained(self).toOpaque(), context: context, identity: identity, file: site.cFile,
      line: site.cLine)
    var observation: kvo_observation = 0
    let status =
      if let key {
        kvo_binding_observe_key(object, key, &observer, &observation)
      } else {
        kvo_binding_observe_tracked(object, &observer, keepsLast, &observation)
      }
    guard status != KVO_OK else { return observation }
    raiseRegistrationFault(status, object: object, keyPath: String(cString: keyPath), site: site)
    return 0
  }
}

/// The box of an observation of a stored property.
@usableFromInline
final class HandlerBox<Object: AnyObject, Value>: ObservationBox {
  @usableFromInline let handler: (Object, NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void, deliver: @escaping Deliver) {
    self.handler = handler
    super.init(deliver: deliver)
  }
}
