// The one word that an observable object carries, and what accessors do with it.

public import CKVO
public import Synchronization

/// The word that makes an object observable: 8 bytes, part of the object, zero until somebody observes it.
///
/// The macro adds one to a class, as `_$kvo`. Its end is the object's end: observations that end with the object do so then.
public struct KeyValueObservationHeader: ~Copyable, @unchecked Sendable {
  @usableFromInline let word = Atomic<UInt>(0)

  /// Creates the header of an object that nobody observes.
  @inlinable
  public init() {}

  /// The key of a property, by which accessors name it: a hash of its name. The macro computes it when it is expanded.
  ///
  /// - Parameter name: The property's name, as in string key paths.
  public static func key(_ name: StaticString) -> UInt64 { keyHash(name.description) }

  /// Tells whether setters have to notify; a setter tests it first, and it costs one load.
  @inlinable
  public var isObserved: Bool {
    @inline(__always) get { _slowPath(word.load(ordering: .relaxed) & 1 != 0) }
  }

  /// The address of the word.
  ///
  /// The word has to be a stored property of an object: only then does its address stay the same.
  @inlinable
  @safe public var reference: KeyValueObjectReference {
    // An Atomic is stored in place and never copied, so the address is the property's own.
    @inline(__always) get {
      withUnsafePointer(to: word) { UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: kvo_object.self) }
    }
  }

  /// Tells whether some thread evaluates an expression and records what it reads; a getter tests it first, and it costs one
  /// load.
  @inlinable
  public var isTracking: Bool {
    @inline(__always) get { _slowPath(kvo_is_tracking()) }
  }

  /// Reads a property while some thread records: subscribes what this thread evaluates, if anything, to `key`.
  @inlinable
  @inline(never)
  public func tracked<Value>(_ object: some KeyValueObservable, _ key: UInt64, _ read: () -> Value) -> Value {
    object.__recordAccess(key)
    return read()
  }

  /// `tracked` for a weak property: what reads it hears also of the death of the object that it refers to.
  @inlinable
  @inline(never)
  public func trackedWeak<Value>(
    _ object: some KeyValueObservable, _ key: UInt64, _ read: () -> Value?
  ) -> Value? {
    object.__recordAccess(key)
    let value = read()
    // The cast is to a protocol, so that the property may be of any class or class-bound type.
    (value as? any KeyValueObservable)?.__recordAccess(keyOfLifetime)
    return value
  }

  @inlinable
  deinit {
    if word.load(ordering: .relaxed) != 0 { kvo_object_finish(reference) }
  }
}

/// KVO_KEY_LIFETIME, whose cast Swift does not import.
@usableFromInline let keyOfLifetime: UInt64 = 0

extension KeyValueObservable {
  /// Subscribes the expression that this thread evaluates, if any, to a key of this object.
  public nonisolated func __recordAccess(_ key: UInt64) {
    guard kvo_track_is_recording() else { return }
    kvo_track_read(adoptedObject, key)
  }

  /// The header, after making sure that the runtime knows the object's class.
  nonisolated var adoptedObject: KeyValueObjectReference {
    let object = __keyValueObject
    if kvo_object_class(object) == nil {
      let instance = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
      kvo_object_adopt(object, KeyValueClass.of(self).pointer(offset: UnsafeRawPointer(object) - instance))
    }
    return object
  }
}
