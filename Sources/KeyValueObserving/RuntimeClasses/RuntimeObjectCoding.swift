// Key-value coding of C objects: conversions by the type encoding of the property.

import CKVO
import Foundation

extension KeyValueRuntimeObject {
  /// The name of the C class.
  nonisolated var className: String {
    kvo_object_class(pointer).map { String(cString: kvo_class_name($0)) } ?? "(no class)"
  }

  nonisolated var keys: [String] {
    guard let cls = kvo_object_class(pointer) else { return [] }
    return (0..<kvo_class_property_count(cls)).compactMap { kvo_class_property_at(cls, $0) }.map {
      String(cString: kvo_property_name($0))
    }
  }

  /// Returns the key that a key path such as `\.title` names.
  nonisolated func key<Root, Value>(of keyPath: KeyPath<Root, Value>) -> String? {
    guard let cls = kvo_object_class(pointer) else { return nil }
    let known = keysOfPaths.withLock { all in
      let known = all[cls] ?? KeyPathTable()
      all[cls] = known
      return known
    }
    return known.value(for: keyPath) { foundKey(of: keyPath) }
  }

  /// The text of a key path does not contain the key, so it is compared with those of all keys.
  private nonisolated func foundKey<Root, Value>(of keyPath: KeyPath<Root, Value>) -> String? {
    func names(_ member: String) -> Bool {
      let path: KeyPath<KeyValueRuntimeObject, Value> = \KeyValueRuntimeObject.[dynamicMember: member]
      return path == keyPath
    }
    let keys = keys
    return keys.first(where: names) ?? keys.first { names($0.replacing("-", with: "_")) || names($0 + "_") }
  }

  /// Returns the key for a member: if the class has no such key, without a "_" at the end, or with "-" for "_".
  func key(ofMember member: String) -> String {
    guard member.utf8.contains(UInt8(ascii: "_")), let cls = kvo_object_class(pointer) else { return member }
    let named = member.hasSuffix("_") ? String(member.dropLast()) : member.replacing("_", with: "-")
    return [member, named].first { kvo_class_property(cls, $0) != nil } ?? member
  }

  /// Returns the property for a key, with the search order of Swift classes.
  private nonisolated func property(for key: String) -> OpaquePointer? {
    guard let cls = kvo_object_class(pointer) else { return nil }
    if let exact = kvo_class_property(cls, key) { return exact }
    let name = capitalized(key)
    let names = ["is\(name)", "_\(key)", "_is\(name)"]
    return names.lazy.compactMap { (name: String) in kvo_class_property(cls, name) }.first
  }

  nonisolated func propertyName(for key: String) -> String? {
    property(for: key).map { String(cString: kvo_property_name($0)) }
  }

  /// Returns the value of a key as the Swift type that its encoding stands for; the inner optional is `nil` for a null value, the
  /// outer one if the class has no such key or no getter for it.
  nonisolated func definedValue(of key: String) -> Any?? {
    guard let name = propertyName(for: key) else { return nil }
    var read: Any?
    let status = reading {
      read = swiftValue(of: $0)
    } from: {
      kvo_get_value(pointer, name, $0, $1)
    }
    return status == KVO_OK ? .some(read) : nil
  }

  /// Sets a property through its setter and converts the value to the type that the encoding stands for.
  nonisolated func setCoded(_ value: Any?, of key: String) throws(KeyPathError) {
    guard let property = property(for: key) else { return setValue(value, forUndefinedKey: key) }
    let name = String(cString: kvo_property_name(property))
    // Of another language's property C knows neither accessor.
    guard kvo_object_property_setter(pointer, property) != nil || kvo_object_getter(pointer, name) == nil else {
      return setValue(value, forUndefinedKey: key)
    }
    let encoding = String(cString: kvo_property_type(property))
    do { try set(value.flatMap(unwrapped), forProperty: name, encoding) } catch {
      guard error.given != nil else { return setNilValueForKey(key) }
      throw .unsuitable(of: self, key: key, error)
    }
  }

  private nonisolated func set(
    _ value: Any?, forProperty name: String, _ encoding: String
  ) throws(ConversionFailure) {
    func open<Value>(_ type: Value.Type) throws(ConversionFailure) {
      let value: Value = try converted(value, to: type)
      if unwrapped(value) == nil { return setNil(name, encoding) }
      let status = set(value, forKey: name, encoding: encoding)
      guard status == KVO_OK else {
        let reason = status == KVO_ERROR_READ_ONLY ? "the property is read-only" : nil
        throw ConversionFailure(given: value, expected: type, reason: reason)
      }
    }
    guard let type = swiftType(of: encoding) else { return try setStructure(value, name, encoding) }
    try open(type)
  }

  private nonisolated func setNil(_ name: String, _ encoding: String) {
    let nothing: UnsafeMutableRawPointer? = nil
    let isReference = encoding.hasPrefix("@") || encoding.hasPrefix("*")
    withUnsafePointer(to: nothing) { bytes in
      encoding.withCString { type in
        var view = kvo_value(
          type: type, size: MemoryLayout<UnsafeMutableRawPointer?>.size, bytes: isReference ? nil : bytes)
        _ = kvo_set_value(pointer, name, &view)
      }
    }
  }

  /// Sets a structure from one of the same size, or from its bytes.
  private nonisolated func setStructure(
    _ value: Any?, _ name: String, _ encoding: String
  ) throws(ConversionFailure) {
    guard let value else { throw ConversionFailure(given: nil, expected: Data.self) }
    let status: kvo_status
    if let data = value as? Data {
      status = data.withUnsafeBytes { bytes in
        encoding.withCString { type in
          var view = kvo_value(type: type, size: bytes.count, bytes: bytes.baseAddress)
          return kvo_set_value(pointer, name, &view)
        }
      }
    } else {
      func open<Value>(_ value: Value) -> kvo_status { set(value, forKey: name, encoding: encoding) }
      status = _openExistential(value, do: open)
    }
    guard status == KVO_OK else {
      throw ConversionFailure(
        given: value, expected: Data.self, reason: "the structure \(encoding) is set from one of its size, or its bytes"
      )
    }
  }
}

/// Returns the Swift type that values are converted to for an encoding; `nil` for a structure.
private func swiftType(of encoding: String) -> Any.Type? {
  switch encoding.first {
  case "c": Int8.self
  case "C": UInt8.self
  case "s": Int16.self
  case "S": UInt16.self
  case "i": Int32.self
  case "I": UInt32.self
  case "l", "q": Int.self
  case "L", "Q": UInt.self
  case "f": Float.self
  case "d": Double.self
  case "B": Bool.self
  case "*": String?.self
  case "@": (any KeyValueObservable)?.self
  case "^", ":", "#": UnsafeMutableRawPointer?.self
  default: nil
  }
}

/// The keys of key paths, by the addresses of the classes. That of an unregistered class may be another one's later, for whose new keys
/// reports have no name then.
private let keysOfPaths = Guarded<[OpaquePointer: KeyPathTable<String>]>([:])
