// Swift objects and key paths as the functions of `kvo.h` have them, and back.

import CKVO
import CSwiftRuntime

/// How the runtime retains Swift objects; it also distinguishes Swift's classes from those of other languages.
let retainSwiftObject: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { swift_tryRetain($0) }

extension KeyValueObservable {
  /// The object as the functions of `kvo.h` take it. Its class is registered with the runtime at the first use.
  ///
  /// The address is valid as long as the object lives; it does not keep the object. Any thread. An addition of this library.
  public nonisolated var keyValueObject: KeyValueObjectReference { adoptedObject }

  /// The object's header, after registering the object's class with the runtime if necessary.
  nonisolated var adoptedObject: KeyValueObjectReference {
    let object = __keyValueObject
    if kvo_object_class(object) == nil {
      let instance = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
      kvo_object_adopt(object, KeyValueClass.of(self).pointer(offset: UnsafeRawPointer(object) - instance))
    }
    return object
  }
}

/// Returns the Swift object that is at an address of `kvo.h`: the opposite of ``KeyValueObservable/keyValueObject``.
///
/// An object of another language is a ``KeyValueRuntimeObject`` that does not keep it. Any thread. An addition of this library.
///
/// - Parameter object: An object whose memory is valid until the function returns.
/// - Returns: `nil` for a Swift object whose destruction has begun, and for memory that is no object.
public func keyValueObservable(at object: KeyValueObjectReference) -> (any KeyValueObservable)? {
  guard let cls = kvo_object_class(object) else { return nil }
  guard kvo_class_is_kept_by(cls, retainSwiftObject) else { return KeyValueRuntimeObject(borrowing: object) }
  guard let retained = swift_tryRetain(kvo_object_instance(object)) else { return nil }
  return Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue() as? any KeyValueObservable
}

/// Returns the key of a property as `kvo.h` and key-value coding take it: `"title"` for `\.title`. An addition of this library.
///
/// A function, because a method would hide a member of that name of a ``KeyValueRuntimeObject``.
///
/// - Returns: `nil` if the key path is not one observable property.
public func keyValueKey<Object: KeyValueObservable>(of keyPath: PartialKeyPath<Object>, in object: Object) -> String? {
  object.property(at: keyPath)?.name
}
