// The token of an observation, and the box that the runtime calls.

internal import CKVO
public import Foundation

/// An observation made with a closure.
///
/// The observation lasts until the token is invalidated or released, or the observed object dies, whichever is first; none of
/// these is ever an error. The token keeps the closure alive, but not the observed object.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let observation: kvo_observation

  init(_ observation: kvo_observation) { self.observation = observation }

  /// Ends the observation.
  ///
  /// After it returns, no new delivery to the closure begins, on any thread; one that has begun on another thread may finish. The
  /// closure is released before it returns, or, when a delivery of the object is in progress, as soon as that is over. Calling
  /// it again, also from within the closure, does nothing. Safe on any thread.
  public func invalidate() { kvo_cancel_observer(observation) }

  deinit { kvo_cancel_observer(observation) }
}

/// Where in the source an observation is made, for reports.
@usableFromInline
struct ObservationSite {
  @usableFromInline let file: StaticString
  @usableFromInline let line: UInt

  @usableFromInline
  init(file: StaticString, line: UInt) {
    self.file = file
    self.line = line
  }
}

/// What the runtime holds for an observation made with a closure; destroyed with it.
@usableFromInline
final class ObservationBox {
  /// Receives the record of a change; specialised where `observe` was called.
  let deliver: (UnsafePointer<kvo_raw_change>) -> Void

  /// For an expression: its value in new storage, or `nil` when the object is gone.
  let evaluate: (() -> UnsafeMutableRawPointer?)?

  /// Frees what `evaluate` returned.
  let release: ((UnsafeMutableRawPointer) -> Void)?

  init(
    deliver: @escaping (UnsafePointer<kvo_raw_change>) -> Void,
    evaluate: (() -> UnsafeMutableRawPointer?)? = nil,
    release: ((UnsafeMutableRawPointer) -> Void)? = nil
  ) {
    self.deliver = deliver
    self.evaluate = evaluate
    self.release = release
  }

  static func from(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<ObservationBox> { .fromOpaque(pointer) }

  /// Registers the box; it is released if that fails. Returns 0 then.
  func register(
    with object: KeyValueObjectReference, key: UInt64?, keyPath: String, options: kvo_options,
    context: UnsafeMutableRawPointer? = nil, identity: kvo_observer_identity = .init(), site: ObservationSite,
    keepsLast: Bool = false
  ) -> kvo_observation {
    let pointer = Unmanaged.passRetained(self).toOpaque()
    var observation: kvo_observation = 0
    let status = keyPath.withCString { path in
      var observer = kvo_binding_observer(
        key_path: path, options: options,
        callback: { change, box in ObservationBox.from(box)._withUnsafeGuaranteedRef { $0.deliver(change) } },
        user_data: pointer, destroy: { box in ObservationBox.from(box!).release() }, context: context,
        identity: identity, file: UnsafeRawPointer(site.file.utf8Start).assumingMemoryBound(to: CChar.self),
        file_length: site.file.utf8CodeUnitCount, line: UInt32(truncatingIfNeeded: site.line))
      if let key { return kvo_binding_observe_key(object, key, &observer, &observation) }
      return kvo_binding_observe_tracked(
        object, &observer, { box in ObservationBox.from(box!)._withUnsafeGuaranteedRef { $0.evaluate!() } },
        { value, box in ObservationBox.from(box!)._withUnsafeGuaranteedRef { $0.release!(value) } }, keepsLast,
        &observation)
    }
    guard status != KVO_OK else { return observation }
    ObservationBox.from(pointer).release()
    raiseRegistrationFault(status, object: object, keyPath: keyPath, site: site)
    return 0
  }
}
