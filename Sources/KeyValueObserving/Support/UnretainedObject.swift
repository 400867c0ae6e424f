// A weak reference without the side table.

public import CSwiftRuntime

/// Does what a `weak` reference does at a lower cost: after an object has had a weak reference, each retain and release of it goes
/// through a side table.
@usableFromInline
struct UnretainedObject<Object: AnyObject> {
  /// Keeps the object's memory allocated, so that `load` can test whether the object is alive. It is never read: a read would trap
  /// if not.
  @usableFromInline unowned let memory: Object
  @usableFromInline let address: UnsafeMutableRawPointer

  @usableFromInline
  init(_ object: Object) {
    memory = object
    address = Unmanaged.passUnretained(object).toOpaque()
  }

  /// Returns the object, or `nil` once its deinitialization has begun. Safe on any thread.
  @inlinable
  @inline(__always)
  func load() -> Object? { Self.load(address) }

  /// The same by the address of an object whose memory something keeps.
  @inlinable
  @inline(__always)
  static func load(_ address: UnsafeMutableRawPointer) -> Object? {
    // Not `map`, which is not specialised in every build.
    guard let retained = swift_tryRetain(address) else { return nil }
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }
}
