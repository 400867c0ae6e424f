// A change by a setter, from before the store until the last observer has been told.

public import CKVO

// The functions here are specialised for the property's type in the program, but never inlined: accessors stay small, so that
// the path of an object that nobody observes is inlined where it is used.

extension KeyValueObservationHeader {
  /// Changes a property of an observed object: tells those who want to know before, stores, tells the observers.
  ///
  /// ```swift
  /// set {
  ///   guard _$kvo.isObserved else {
  ///     _title = newValue
  ///     _$kvo.stored(key, { self._title })
  ///     return
  ///   }
  ///   _$kvo.change(key, { self._title }, { self._title = newValue })
  /// }
  /// ```
  /// `read` calls the getter; it is called only for observers that want values: before the store, and after it once for each
  /// observer, so that after a change by another observer one sees the newest.
  @inlinable
  @inline(never)
  public func change<Value>(_ key: UInt64, _ read: () -> Value, _ store: () -> Void) {
    // The frame needs no initial value.
    withUnsafeTemporaryAllocation(of: kvo_frame.self, capacity: 1) { frame in
      let frame = frame.baseAddress!
      let wants = kvo_frame_begin(frame, reference, key)
      guard wants != 0 else {
        store()
        kvo_binding_stored(reference, key)
        return
      }
      if wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 {
        let oldValue = read()
        withUnsafePointer(to: oldValue) { oldValue in
          if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, oldValue) }
          store()
          Self.deliver(frame, wants, oldValue, read)
        }
      } else {
        if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, nil) }
        store()
        Self.deliver(frame, wants, nil, read)
      }
    }
  }

  /// Comes after a store into an object that nobody observed: another thread may have begun to observe a path that leads through
  /// it, and have read the old value; then the path follows. `read` is not called.
  ///
  /// Only for values that hold references, for a path leads nowhere else: it costs a set of a number nothing.
  @inlinable
  @inline(__always)
  public func stored<Value>(_ key: UInt64, _ read: () -> Value) {
    if !_isPOD(Value.self), isObserved { kvo_binding_stored(reference, key) }
  }

  /// Tells the observers and ends the change.
  @inlinable
  @inline(__always)
  static func deliver<Value>(
    _ frame: UnsafeMutablePointer<kvo_frame>, _ wants: UInt32, _ oldValue: UnsafePointer<Value>?, _ read: () -> Value
  ) {
    guard wants & UInt32(KVO_FRAME_WANTS_NEW) != 0 else { return kvo_frame_finish(frame, oldValue) }
    while kvo_frame_next(frame) {
      let newValue = read()
      withUnsafePointer(to: newValue) { kvo_frame_deliver(frame, oldValue, $0) }
    }
    kvo_frame_end(frame)
  }

  /// Begins a change in place of a property of an observed object.
  ///
  /// ```swift
  /// _modify {
  ///   guard _$kvo.isObserved else {
  ///     yield &_title
  ///     return
  ///   }
  ///   let change = _$kvo.beginChange(key, { self._title })
  ///   defer { change.finish({ self._title }) }
  ///   yield &_title
  /// }
  /// ```
  @inlinable
  @inline(never)
  public func beginChange<Value>(_ key: UInt64, _ read: () -> Value) -> KeyValueChangeInPlace<Value> {
    KeyValueChangeInPlace(reference, key, read)
  }
}

/// A change in place that is in progress.
///
/// It is an object, not a value, so that the frame of a `_modify` stays small enough to need no allocation while nobody observes.
public final class KeyValueChangeInPlace<Value> {
  @usableFromInline var frame = kvo_frame()
  @usableFromInline let wants: UInt32
  @usableFromInline let oldValue: Value?

  @inlinable
  init(_ object: KeyValueObjectReference, _ key: UInt64, _ read: () -> Value) {
    var frame = kvo_frame()
    wants = kvo_frame_begin(&frame, object, key)
    let oldValue = wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 ? read() : nil
    if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { withPointer(to: oldValue) { kvo_frame_will(&frame, $0) } }
    self.oldValue = oldValue
    self.frame = frame
  }

  /// Tells the observers, newest first, and ends the change; call it exactly once, in a `defer`, so that a mutation that throws
  /// ends its change too.
  @inlinable
  @inline(never)
  public func finish(_ read: () -> Value) {
    guard wants != 0 else { return }
    withPointer(to: oldValue) { KeyValueObservationHeader.deliver(&frame, wants, $0, read) }
  }
}

/// Calls a function with the address of a value, if there is one.
@inlinable
@inline(__always)
func withPointer<Value>(to value: Value?, _ body: (UnsafePointer<Value>?) -> Void) {
  if let value { withUnsafePointer(to: value, body) } else { body(nil) }
}
