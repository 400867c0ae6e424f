// Objects of classes defined at run time, and C objects, seen from Swift.

import CKVO
import Foundation

/// An object of a class defined at run time, in Swift or C.
///
/// Read and set its properties like those of any object; a set goes through the C setter, intercepted while observed:
/// ```swift
/// let token = point.observe(\.x, options: [.old, .new]) { (_, change: NSKeyValueObservedChange<Double>) in
///   print(change.oldValue!, "->", change.newValue!)
/// }
/// point.x = 3.5
/// ```
/// The type is the one you ask for; it has to be that of the type encoding, nothing is converted. ``value(forKey:as:)`` and
/// ``setValue(_:forKey:)`` throw where the subscript, which has no value to go on with, ends the process after fault KVO0026 or
/// KVO0009, whatever the policy.
///
/// Key-value coding converts: `value(forKey:)`, `value(forKeyPath:)`, `setValue(_:forKeyPath:)` and, of an `any KeyValueObservable`,
/// `setValue(_:forKey:)`, for the one of this class is the typed one.
///
/// Not thread safe where the C getters and setters are not.
@dynamicMemberLookup
public final class KeyValueRuntimeObject: KeyValueObservable {
  /// The object's address, for C.
  ///
  /// Valid as long as this object lives, or for a borrowed one as long as its owner keeps it.
  public nonisolated let pointer: KeyValueObjectReference
  private let isOwned: Bool

  public nonisolated var __keyValueObject: KeyValueObjectReference { pointer }
  public nonisolated static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {}

  /// Creates an object of zeroed memory; it is destroyed with this one.
  ///
  /// - Throws: ``KeyValueRuntimeError`` when there is no memory.
  public init(_ cls: KeyValueRuntimeClass) throws {
    var made: KeyValueObjectReference?
    let status = kvo_object_create(cls.pointer, &made)
    guard status == KVO_OK, let made else { throw KeyValueRuntimeError(status, "creating a \(cls.name)") }
    pointer = made
    isOwned = true
  }

  /// Looks at an object that C code owns.
  ///
  /// The owner must keep it alive as long as this view is used; the view does not.
  public init(borrowing object: KeyValueObjectReference) {
    pointer = object
    isOwned = false
  }

  deinit {
    if isOwned { kvo_object_destroy(pointer) }
  }

  /// Returns the setter to call now, intercepted while the object is observed, or `nil`.
  ///
  /// Cast it with `unsafeBitCast` to `@convention(c) (UnsafeMutableRawPointer, T) -> Void`, and look it up for each call.
  public func setter(forKey key: String) -> KeyValueFunction? { kvo_object_setter(pointer, key) }

  /// Returns a property's value.
  ///
  /// - Throws: ``KeyValueRuntimeError`` when there is no such key or no getter, or the value is of another type.
  public func value<Value>(forKey key: String, as type: Value.Type = Value.self) throws -> Value {
    if kvo_track_is_recording() { recordRead(key) }
    var read: Value?
    let status = reading {
      read = swiftValue(of: $0, as: type)
    } from: {
      kvo_get_value(pointer, key, $0, $1)
    }
    guard status == KVO_OK else { throw KeyValueRuntimeError(status, "reading \"\(key)\"") }
    guard let read else { throw KeyValueRuntimeError(KVO_ERROR_TYPE_MISMATCH, "reading \"\(key)\" as \(type)") }
    return read
  }

  /// Sets a property through its C setter.
  ///
  /// - Throws: ``KeyValueRuntimeError`` when there is no such key or no setter, or the value is of another type.
  public func setValue<Value>(_ value: Value, forKey key: String) throws {
    let status = kvo_object_class(pointer).flatMap { kvo_class_property($0, key) }.map { property in
      set(value, forKey: key, encoding: String(cString: kvo_property_type(property)))
    }
    guard status == KVO_OK else {
      throw KeyValueRuntimeError(status ?? KVO_ERROR_UNDEFINED_KEY, "setting \"\(key)\" to a \(Value.self)")
    }
  }

  /// A property's value.
  public subscript<Value>(dynamicMember key: String) -> Value {
    get {
      do { return try value(forKey: key) } catch { refuse(error) }
    }
    set {
      do { try setValue(newValue, forKey: key) } catch { refuse(error) }
    }
  }

  private func refuse(_ error: any Error) -> Never {
    let cls = className
    let undefined = (error as? KeyValueRuntimeError)?.reason == .undefinedKey
    let code = undefined ? KVO_FAULT_UNDEFINED_KEY : KVO_FAULT_TYPE_MISMATCH
    raiseFault(code, "\(cls)@\(hexadecimal(pointer)): \(error)")
    // There is no value to go on with, whatever the policy.
    fatalError("\(cls): \(error)")
  }

  // MARK: - Values by encoding

  func recordRead(_ key: String) { kvo_track_read(pointer, keyHash(key)) }

  func set<Value>(_ value: Value, forKey key: String, encoding: String) -> kvo_status {
    // A structure goes as its bits, under the property's own encoding; Swift's types do not know their encoding.
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
      // Swift has one type where C has two of the same bits.
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

/// The encodings that Swift values may have to be set to a property of this one.
private func swiftEncodings(_ encoding: String) -> [String] {
  switch encoding {
  case "l": ["q"]
  case "L": ["Q"]
  case _ where encoding.hasPrefix("^") || encoding == ":" || encoding == "#": ["^v"]
  default: [encoding]
  }
}

/// Calls a function that hands a C view to a reader, with a closure as the reader.
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

/// The Swift value that a C view shows, typed by its encoding: a number, a `Bool`, a `String`, an object, a pointer, or the bytes
/// of a structure; `nil` for a nil.
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
  case "@": return bytes.load(as: KeyValueObjectReference?.self).flatMap { swiftObject(at: $0) }
  case "^", ":", "#": return bytes.load(as: UnsafeMutableRawPointer?.self)
  default: return Data(bytes: bytes, count: value.size)
  }
}

/// The value of a C property in storage, typed by its encoding.
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
