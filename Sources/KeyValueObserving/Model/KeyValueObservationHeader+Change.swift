// A change by a setter: from before the store until the last observer was notified.

public import CKVO

// The functions here are specialised for the property's type in the client's module, but never inlined. That keeps accessors small,
// so that the path for an unobserved object can be inlined into its callers.

extension KeyValueObservationHeader {
  /// Changes a property of an observed object: sends prior notifications, stores the value and notifies the observers.
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
  /// `read` calls the getter. It is called only if observers want values: once before the store, and once per observer after it, so
  /// that an observer sees the newest value when an earlier observer has changed the property again.
  @inlinable
  @inline(never)
  public func change<Value>(_ key: UInt64, _ read: () -> Value, _ store: () -> Void) {
    // The frame needs no initial value.
    withUnsafeTemporaryAllocation(of: kvo_frame.self, capacity: 1) { frame in
      let frame = frame.baseAddress!
      let wants = kvo_frame_enter(frame, reference, key)
      guard wants != 0 else {
        store()
        kvo_binding_stored(reference, key)
        return
      }
      if wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 {
        let oldValue = read()
        withUnsafePointer(to: oldValue) { address in
          let oldValue = Self.address(of: address, frame)
          if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, oldValue) }
          store()
          Self.deliver(frame, wants, oldValue, read)
        }
        withExtendedLifetime(oldValue) {}
      } else {
        if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, nil) }
        store()
        Self.deliver(frame, wants, nil, read)
      }
    }
  }

  /// Changes a stored property whose value the runtime can read where it is stored: no subclass overrides the property.
  ///
  /// `access` passes the stored property itself, not a copy of it. The compiler passes a copy if the property's type is a function or a
  /// metatype, which generic code represents in another way. No such type is `Equatable`.
  @inlinable
  @inline(__always)
  public func change<Value: Equatable>(
    _ key: UInt64, _ newValue: Value, _ access: ((inout Value) -> Void) -> Void, _ read: () -> Value,
    _ store: () -> Void
  ) {
    access { storage in
      if _isPOD(Value.self), MemoryLayout<Value>.size == 8, MemoryLayout<Value>.alignment == 8 {
        withUnsafeMutableBytes(of: &storage) {
          let word = $0.baseAddress!.assumingMemoryBound(to: UInt64.self)
          kvo_change_word(reference, key, word, unsafeBitCast(newValue, to: UInt64.self))
        }
      } else {
        changeStored(key, &storage, newValue)
      }
    }
  }

  /// The same for a property of any other type.
  @inlinable
  @inline(__always)
  public func change<Value>(
    _ key: UInt64, _ newValue: Value, _ access: ((inout Value) -> Void) -> Void, _ read: () -> Value,
    _ store: () -> Void
  ) {
    change(key, read, store)
  }

  /// Stores a value and notifies.
  ///
  /// All accesses use pointers, and the old value is copied to memory of its own: of a variable, the compiler may end the lifetime
  /// before the call that reads it through a pointer.
  @inlinable
  @inline(never)
  func changeStored<Value>(_ key: UInt64, _ storage: inout Value, _ newValue: Value) {
    withUnsafeMutablePointer(to: &storage) { storage in
      withUnsafeTemporaryAllocation(of: kvo_frame.self, capacity: 1) { frame in
        let frame = frame.baseAddress!
        let wants = kvo_frame_enter(frame, reference, key)
        guard wants != 0 else {
          storage.pointee = newValue
          kvo_binding_stored(reference, key)
          return
        }
        guard wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 else {
          if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, nil) }
          storage.pointee = newValue
          kvo_frame_finish_with(frame, nil, Self.address(of: storage, frame))
          return
        }
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
          let oldValue = UnsafeMutablePointer(mutating: Self.address(of: buffer.baseAddress, frame))
          oldValue.initialize(to: storage.pointee)
          if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { kvo_frame_will(frame, oldValue) }
          storage.pointee = newValue
          kvo_frame_finish_with(frame, oldValue, Self.address(of: storage, frame))
          oldValue.deinitialize(count: 1)
        }
      }
    }
  }

  /// Handles a store into an object that was not observed before the store.
  ///
  /// Another thread may have begun to observe a path through the object and have read the old value; the path then follows the new
  /// value. `read` is not called.
  ///
  /// Only values that hold references need this, because a path cannot go through any other value. For trivial types such as
  /// numbers the call compiles to nothing. A property with `willSet` or `didSet` calls `stored(_:)` instead.
  @inlinable
  @inline(__always)
  public func stored<Value>(_ key: @autoclosure () -> UInt64, _ read: () -> Value) {
    if !_isPOD(Value.self), isObserved { kvo_binding_stored(reference, key()) }
  }

  /// Handles a store, of a property with `willSet` or `didSet`, into an object that was not observed before: these may have led a path
  /// to the object, which has read the old value and is told the new one. Called by the macro's code, after the store.
  ///
  /// - Parameter key: The hash of the property's key.
  @inlinable
  @inline(__always)
  public func stored(_ key: @autoclosure () -> UInt64) {
    if isObserved { kvo_binding_stored(reference, key()) }
  }

  /// Returns an address of a value that is not that of nothing: a value without a size may have that.
  @inlinable
  @inline(__always)
  static func address<Value>(
    of value: UnsafePointer<Value>?, _ frame: UnsafeMutablePointer<kvo_frame>
  ) -> UnsafePointer<Value> {
    MemoryLayout<Value>.size == 0
      ? UnsafePointer(UnsafeMutableRawPointer(frame).assumingMemoryBound(to: Value.self)) : value!
  }

  /// Notifies the observers and ends the change.
  @inlinable
  @inline(__always)
  static func deliver<Value>(
    _ frame: UnsafeMutablePointer<kvo_frame>, _ wants: UInt32, _ oldValue: UnsafePointer<Value>?, _ read: () -> Value
  ) {
    guard wants & UInt32(KVO_FRAME_WANTS_NEW) != 0 else { return kvo_frame_finish(frame, oldValue) }
    while kvo_frame_next(frame) {
      let newValue = read()
      withUnsafePointer(to: newValue) { kvo_frame_deliver(frame, oldValue, address(of: $0, frame)) }
      withExtendedLifetime(newValue) {}
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

/// An in-place change in progress.
///
/// It is a class, so that the frame of a `_modify` accessor stays small enough to need no allocation while the object is not
/// observed.
public final class KeyValueChangeInPlace<Value> {
  @usableFromInline var frame = kvo_frame()
  @usableFromInline let object: KeyValueObjectReference
  @usableFromInline let key: UInt64
  @usableFromInline let wants: UInt32
  @usableFromInline let oldValue: Value?

  @inlinable
  init(_ object: KeyValueObjectReference, _ key: UInt64, _ read: () -> Value) {
    var frame = kvo_frame()
    self.object = object
    self.key = key
    wants = kvo_frame_begin(&frame, object, key)
    let oldValue = wants & UInt32(KVO_FRAME_WANTS_OLD) != 0 ? read() : nil
    if wants & UInt32(KVO_FRAME_WANTS_WILL) != 0 { withPointer(to: oldValue) { kvo_frame_will(&frame, $0) } }
    self.oldValue = oldValue
    self.frame = frame
  }

  /// Notifies the observers, newest first, and ends the change.
  ///
  /// Call it exactly once, in a `defer` statement, so that the change also ends if the mutation throws.
  @inlinable
  @inline(never)
  public func finish(_ read: () -> Value) {
    guard wants != 0 else { return kvo_binding_stored(object, key) }
    withPointer(to: oldValue) { KeyValueObservationHeader.deliver(&frame, wants, $0, read) }
  }
}

/// Calls a function with the address of a value, if there is one.
@inlinable
@inline(__always)
func withPointer<Value>(to value: Value?, _ body: (UnsafePointer<Value>?) -> Void) {
  if let value { withUnsafePointer(to: value, body) } else { body(nil) }
}
