// The observation header of an observable object, and the operations that accessors use.

public import CKVO
public import Synchronization

/// The word that makes an object observable: 8 bytes inside the object, zero until the object is first observed.
///
/// The macro adds one to a class, as `_$kvo`. When the header is destroyed, the object's observations end.
public struct KeyValueObservationHeader: ~Copyable, @unchecked Sendable {
  @usableFromInline let word = Atomic<UInt>(0)

  /// Creates the header of an unobserved object.
  @inlinable
  public init() {}

  /// Returns the key that accessors pass for a property: a hash of its name. The macro computes it at expansion time.
  ///
  /// - Parameter name: The property's name, as in string key paths.
  public static func key(_ name: StaticString) -> UInt64 { keyHash(name.description) }

  /// Returns the key of a property that subclasses may not see: it differs if the object's class declares another property of that name.
  ///
  /// - Parameters:
  ///   - key: The hash of the property's name.
  ///   - object: The object that has the property.
  ///   - owner: The class that declares the property.
  @inline(never)
  public static func __key(_ key: UInt64, of object: some KeyValueObservable, in owner: any AnyObject.Type) -> UInt64 {
    // Another thread may have described the class, before it registered the object, whose header this thread has read.
    atomicMemoryFence(ordering: .acquiring)
    // The class of an object that an evaluation reads first may not be described yet.
    let isUnknown = kvo_object_class(object.__keyValueObject) == nil && kvo_track_is_recording()
    guard isUnknown || KeyValueClass.hasRedeclaredKeys.load(ordering: .relaxed) else { return key }
    return KeyValueClass.of(object).key(key, declaredIn: owner)
  }

  /// A Boolean value that says whether setters have to notify. A setter tests it first; that costs one load.
  @inlinable
  public var isObserved: Bool {
    @inline(__always) get { _slowPath(word.load(ordering: .relaxed) & 1 != 0) }
  }

  /// The address of the header.
  ///
  /// The header has to be a stored property of a class: only then is its address stable.
  @inlinable
  @safe public var reference: KeyValueObjectReference {
    // An Atomic is stored in place and never copied, so this is the address of the stored property.
    @inline(__always) get {
      withUnsafePointer(to: word) { UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: kvo_object.self) }
    }
  }

  /// A Boolean value that says whether any thread is recording the reads of an expression. A getter tests it first; that costs one
  /// load.
  @inlinable
  public var isTracking: Bool {
    @inline(__always) get { _slowPath(kvo_is_tracking()) }
  }

  /// Reads a property while some thread records, and adds `key` to the reads of this thread's evaluation, if there is one.
  @inlinable
  @inline(never)
  public func tracked<Value>(_ object: some KeyValueObservable, _ key: UInt64, _ read: () -> Value) -> Value {
    object.recordAccess(key)
    return read()
  }

  /// Records a read of a key of an object if this thread is evaluating an expression; a getter calls it before it reads.
  ///
  /// A type method, so that a getter that never calls it needs no register for it.
  @inline(never)
  public static func recordRead(_ object: some KeyValueObservable, _ key: UInt64) {
    object.recordAccess(key)
  }

  /// Does the same as `tracked` for a weak property: the expression also depends on the lifetime of the referenced object.
  @inlinable
  @inline(never)
  public func trackedWeak<Value>(
    _ object: some KeyValueObservable, _ key: UInt64, _ read: () -> Value?
  ) -> Value? {
    object.recordAccess(key)
    let value = read()
    // The cast is to a protocol, so that the property can have any class type or class-bound protocol type.
    (value as? any KeyValueObservable)?.recordAccess(keyOfLifetime)
    return value
  }

  @inlinable
  deinit {
    if word.load(ordering: .relaxed) != 0 { kvo_object_finish(reference) }
  }
}

/// KVO_KEY_LIFETIME; Swift does not import the macro because it contains a cast.
@usableFromInline let keyOfLifetime: UInt64 = 0

extension KeyValueObservable {
  /// Records a read of a key of this object if this thread is evaluating an expression.
  @usableFromInline
  nonisolated func recordAccess(_ key: UInt64) {
    guard kvo_track_is_recording() else { return }
    kvo_track_read(adoptedObject, key)
  }
}
