// A reference that does not keep its object alive, and costs the object nothing.

public import CSwiftRuntime

/// What a `weak` property is, without its price: an object with a weak reference counts every later retain and release through a
/// side table.
@usableFromInline
struct UnretainedObject<Object: AnyObject> {
  /// Keeps the memory, though not the object, so that it can be asked whether it lives. Never read: that would trap if it does not.
  @usableFromInline unowned let memory: Object
  @usableFromInline let address: UnsafeMutableRawPointer

  init(_ object: Object) {
    memory = object
    address = Unmanaged.passUnretained(object).toOpaque()
  }

  /// The object, or `nil` once its deinitialisation has begun. Safe on any thread.
  @inlinable
  @inline(__always)
  func load() -> Object? {
    swift_tryRetain(address).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
  }
}
