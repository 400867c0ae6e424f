// Swift access to C objects: instances of classes defined at run time.

import CKVO
import Foundation

/// An object of a class that was defined at run time, in Swift or C.
///
/// Its properties can be read and set like those of any object. A set calls the C setter, which is intercepted while the object is
/// observed:
/// ```swift
/// let token = point.observe(\.x, options: [.old, .new]) { (_, change: NSKeyValueObservedChange<Double>) in
///   print(change.oldValue!, "->", change.newValue!)
/// }
/// point.x = 3.5
/// ```
/// The type of a property is the one that the context requires; it has to match the type encoding, because values are not
/// converted. ``value(forKey:as:)`` and ``setValue(_:forKey:)`` throw on failure. The subscript has no value to return then: it
/// raises fault KVO0026 or KVO0009 and ends the process, whatever the policy is.
///
/// Key-value coding converts values: `value(forKey:)`, `value(forKeyPath:)`, `setValue(_:forKeyPath:)` and, if the static type is
/// `any KeyValueObservable`, `setValue(_:forKey:)`, because the method of this class with that name is the typed one.
///
/// Access is only as thread-safe as the C getters and setters are.
@dynamicMemberLookup
public final class KeyValueRuntimeObject: KeyValueObservable {
  /// The object's address, for C functions.
  ///
  /// It is valid during the lifetime of this instance or, for a borrowed object, as long as its owner keeps it.
  public nonisolated let pointer: KeyValueObjectReference
  private let isOwned: Bool
  private let owner: AnyObject?

  public nonisolated var __keyValueObject: KeyValueObjectReference { pointer }
  public nonisolated static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {}

  /// Creates an object in zeroed memory, which is destroyed with this instance.
  ///
  /// - Throws: ``KeyValueRuntimeError`` if memory cannot be allocated.
  public init(_ cls: KeyValueRuntimeClass) throws {
    var made: KeyValueObjectReference?
    let status = kvo_object_create(cls.pointer, &made)
    guard status == KVO_OK, let made else { throw KeyValueRuntimeError(status, "creating a \(cls.name)") }
    pointer = made
    isOwned = true
    owner = nil
  }

  /// Creates a reference to an object that C code owns.
  ///
  /// - Parameters:
  ///   - object: The object. It has to live as long as this instance is used; this instance does not keep it.
  ///   - owner: What keeps the object alive, if Swift can keep that: it is retained as long as this instance lives.
  public init(borrowing object: KeyValueObjectReference, keeping owner: AnyObject? = nil) {
    pointer = object
    isOwned = false
    self.owner = owner
  }

  deinit {
    if isOwned { kvo_object_destroy(pointer) }
  }

  /// Returns the setter to call at present, which is an intercepting one while the object is observed, or `nil`.
  ///
  /// Cast it with `unsafeBitCast` to `@convention(c) (UnsafeMutableRawPointer, T) -> Void`. Look it up again for each call.
  public func setter(forKey key: String) -> KeyValueFunction? { kvo_object_setter(pointer, key) }

  /// Returns a property's value.
  ///
  /// - Throws: ``KeyValueRuntimeError`` if there is no such key or no getter, or if the value has another type.
  public func value<Value>(forKey key: String, as type: Value.Type = Value.self) throws -> Value {
    var read: Value?
    var isNil = false
    let status = reading {
      read = swiftValue(of: $0, as: type)
      isNil = read == nil && swiftValue(of: $0) == nil
    } from: {
      kvo_get_value(pointer, key, $0, $1)
    }
    guard status == KVO_OK else { throw KeyValueRuntimeError(status, "reading \"\(key)\"") }
    guard let read else {
      let what = "\"\(key)\"\(isNil ? ", which is nil," : "")"
      throw KeyValueRuntimeError(KVO_ERROR_TYPE_MISMATCH, "reading \(what) as \(type)")
    }
    return read
  }

  /// Sets a property through its C setter.
  ///
  /// - Throws: ``KeyValueRuntimeError`` if there is no such key or no setter, or if the value has another type.
  public func setValue<Value>(_ value: Value, forKey key: String) throws {
    let status = kvo_object_class(pointer).flatMap { kvo_class_property($0, key) }.map { property in
      set(value, forKey: key, encoding: String(cString: kvo_property_type(property)))
    }
    guard status == KVO_OK else {
      throw KeyValueRuntimeError(status ?? KVO_ERROR_UNDEFINED_KEY, "setting \"\(key)\" to a \(Value.self)")
    }
  }

  /// Accesses the value of a property.
  ///
  /// A member `line_width` is also the key "line-width", and `value_` the key "value", because Swift takes `value` for a method.
  public subscript<Value>(dynamicMember member: String) -> Value {
    get {
      do { return try value(forKey: key(ofMember: member)) } catch { refuse(error) }
    }
    set {
      do { try setValue(newValue, forKey: key(ofMember: member)) } catch { refuse(error) }
    }
  }

  private func refuse(_ error: any Error) -> Never {
    let cls = className
    let undefined = (error as? KeyValueRuntimeError)?.reason == .undefinedKey
    let code = undefined ? KVO_FAULT_UNDEFINED_KEY : KVO_FAULT_TYPE_MISMATCH
    raiseFault(code, "\(cls)@\(hexadecimal(pointer)): \(error)")
    // There is no value to return, whatever the policy is.
    fatalError("\(cls): \(error)")
  }

  // MARK: - Values by encoding

  func set<Value>(_ value: Value, forKey key: String, encoding: String) -> kvo_status {
    // A structure is passed as its bytes with the property's own type encoding, because Swift types do not know their encoding.
    if encoding.hasPrefix("{"), _isPOD(Value.self) {
      return withUnsafePointer(to: value) { bytes in
        encoding.withCString { type in
          var view = kvo_value(type: type, size: MemoryLayout<Value>.size, bytes: bytes)
          return kvo_set_value(pointer, key, &view)
        }
      }
    }
    var status = KVO_ERROR_TYPE_MISMATCH
    withCValue(value) { view in
      // For some pairs of C types with the same representation, Swift has only one type.
      let isSame = swiftEncodings(encoding).contains(view.pointee.type.map { String(cString: $0) } ?? "")
      guard isSame else { return }
      encoding.withCString { type in
        var view = kvo_value(type: type, size: view.pointee.size, bytes: view.pointee.bytes)
        status = kvo_set_value(pointer, key, &view)
      }
    }
    return status
  }
}

/// Returns the encodings of the Swift values that can be set to a property with this encoding.
private func swiftEncodings(_ encoding: String) -> [String] {
  switch encoding {
  case "l": ["q"]
  case "L": ["Q"]
  case _ where encoding.hasPrefix("^") || encoding == ":" || encoding == "#": ["^v"]
  default: [encoding]
  }
}

/// Calls a function that passes a C view of a value to a reader, with a closure as the reader.
func reading(
  _ read: (kvo_value) -> Void, from call: (kvo_value_reader, UnsafeMutableRawPointer) -> kvo_status
) -> kvo_status {
  withoutActuallyEscaping(read) { read in
    withUnsafePointer(to: read) { read in
      call(
        { value, argument in
          argument!.assumingMemoryBound(to: ((kvo_value) -> Void).self).pointee(value.pointee)
        }, UnsafeMutableRawPointer(mutating: read))
    }
  }
}

/// Returns the Swift value for a C view, typed by its encoding: a number, a `Bool`, a `String`, an object, a pointer, an array of
/// such values for a list or a set, or the bytes of a structure; `nil` for a null pointer.
func swiftValue(of value: kvo_value) -> Any? {
  guard let bytes = value.bytes, let type = value.type else { return nil }
  switch CChar(type.pointee) {
  case "c": return swiftValue(of: value, as: Int8.self)
  case "C": return swiftValue(of: value, as: UInt8.self)
  case "s": return swiftValue(of: value, as: Int16.self)
  case "S": return swiftValue(of: value, as: UInt16.self)
  case "i": return swiftValue(of: value, as: Int32.self)
  case "I": return swiftValue(of: value, as: UInt32.self)
  case "l", "q": return swiftValue(of: value, as: Int.self)
  case "L", "Q": return swiftValue(of: value, as: UInt.self)
  case "f": return swiftValue(of: value, as: Float.self)
  case "d": return swiftValue(of: value, as: Double.self)
  case "B": return swiftValue(of: value, as: Bool.self)
  case "*": return swiftValue(of: value, as: String.self)
  case "@": return bytes.load(as: KeyValueObjectReference?.self).flatMap { keyValueObservable(at: $0) }
  case "^", ":", "#": return bytes.load(as: UnsafeMutableRawPointer?.self)
  case "[", "<": return elements(ofCValue: value)
  default: return Data(bytes: bytes, count: value.size)
  }
}

/// Returns the value of a C property in storage, typed by its encoding.
func swiftValue(of property: OpaquePointer, at storage: UnsafeRawPointer) -> Any? {
  var read: Any?
  _ = reading {
    read = swiftValue(of: $0)
  } from: { reader, argument in
    kvo_property_view(property, storage, reader, argument)
    return KVO_OK
  }
  return read
}

private func ~= (pattern: Unicode.Scalar, value: CChar) -> Bool { pattern.value == UInt32(UInt8(bitPattern: value)) }
