// A change by a setter, from before the store until the last observer has been told.

public import CKVO

/// A change in progress; what a setter of an observed object makes around its store.
///
/// ```swift
/// set {
///   guard _$kvo.isObserved else { _title = newValue; return }
///   var change = KeyValueChangeScope(_$kvo, key, _title)
///   _title = newValue
///   change.finish(_title)
/// }
/// ```
/// Call ``finish(_:)`` exactly once, also when the store throws: a `defer` does. The object must live until then.
public struct KeyValueChangeScope<Value>: ~Copyable {
  @usableFromInline var frame = kvo_frame()
  @usableFromInline var wants: UInt32
  @usableFromInline var oldValue: Value?

  /// Begins a change of `key`, and tells those who want to know before it.
  ///
  /// `value` reads the property through its getter; it is called only when an observer wants the old value.
  @inlinable
  public init(_ header: borrowing KeyValueObservationHeader, _ key: UInt64, _ value: @autoclosure () -> Value) {
    wants = kvo_frame_begin(&frame, header.reference, key)
    oldValue = nil
    guard wants != 0 else { return }
    if wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 { oldValue = value() }
    if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { announce() }
  }

  /// Tells the observers, newest first, and ends the change.
  ///
  /// `value` is called for each observer that wants the new value, so that after a change made by another observer it sees the
  /// newest.
  @inlinable
  public mutating func finish(_ value: @autoclosure () -> Value) {
    guard wants != 0 else { return }
    while kvo_frame_next(&frame) {
      if wants & UInt32(KVO_FRAME_WANTS_NEW) != 0 {
        let newValue = value()
        withUnsafePointer(to: newValue) { deliver($0) }
      } else {
        deliver(nil)
      }
    }
    kvo_frame_end(&frame)
  }

  @inlinable
  @inline(__always)
  mutating func deliver(_ newValue: UnsafePointer<Value>?) {
    if let oldValue {
      withUnsafePointer(to: oldValue) { kvo_frame_deliver(&frame, $0, newValue) }
    } else {
      kvo_frame_deliver(&frame, nil, newValue)
    }
  }

  @usableFromInline
  mutating func announce() {
    if let oldValue {
      withUnsafePointer(to: oldValue) { kvo_frame_will(&frame, $0) }
    } else {
      kvo_frame_will(&frame, nil)
    }
  }
}
