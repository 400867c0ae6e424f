// Conversion between Swift values and C views of values with type encodings.

import CKVO

/// Returns the encoding of a Swift type, or "?" if its values have no C representation.
func cEncoding(of type: Any.Type) -> String {
  if let optional = type as? any OptionalProtocol.Type { return cEncoding(of: optional.wrappedType) }
  if type == String.self { return "*" }
  if type is any KeyValueObservable.Type { return "@" }
  if let collection = type as? any CCollection.Type { return collection.cEncoding }
  if type is any UnsafePointerType.Type { return "^v" }
  return scalarEncodings.first { $0.type == type }?.encoding ?? "?"
}

/// Swift's scalar types with the two encodings that C may use for the same representation. We use the first.
private let scalarEncodings: [(type: Any.Type, encoding: String, alias: String)] = [
  (Int.self, "q", "l"), (UInt.self, "Q", "L"), (Int64.self, "q", "l"), (UInt64.self, "Q", "L"),
  (Int32.self, "i", "i"), (UInt32.self, "I", "I"), (Int16.self, "s", "s"), (UInt16.self, "S", "S"),
  (Int8.self, "c", "c"), (UInt8.self, "C", "C"), (Float.self, "f", "f"), (Double.self, "d", "d"), (Bool.self, "B", "B"),
]

private protocol UnsafePointerType {
  init(raw: UnsafeMutableRawPointer?)
}
extension UnsafeRawPointer: UnsafePointerType {
  init(raw: UnsafeMutableRawPointer?) { self.init(raw!) }
}
extension UnsafeMutableRawPointer: UnsafePointerType {
  init(raw: UnsafeMutableRawPointer?) { self = raw! }
}
extension OpaquePointer: UnsafePointerType {
  init(raw: UnsafeMutableRawPointer?) { self.init(raw!) }
}

/// Calls `body` with a C view of a Swift value, which is valid until `body` returns.
func withCValue(_ value: Any, _ body: (UnsafePointer<kvo_value>) -> Void) {
  guard let value = unwrapped(value) else {
    cEncoding(of: Swift.type(of: value)).withCString { type in
      withUnsafePointer(to: kvo_value(type: type, size: 0, bytes: nil), body)
    }
    return
  }
  func yield<T>(_ bits: T, _ encoding: String) {
    encoding.withCString { type in
      withUnsafePointer(to: bits) { bytes in
        withUnsafePointer(to: kvo_value(type: type, size: MemoryLayout<T>.size, bytes: bytes), body)
      }
    }
  }
  func open<T>(_ value: T) { yield(value, cEncoding(of: T.self)) }
  if let string = value as? String {
    string.withCString { yield($0, "*") }
  } else if let collection = value as? any CCollection {
    collection.withCCollection { bytes in
      Swift.type(of: collection).cEncoding.withCString { type in
        let size = MemoryLayout<kvo_collection>.size
        withUnsafePointer(to: kvo_value(type: type, size: size, bytes: bytes), body)
      }
    }
  } else if let object = observable(value) {
    yield(object.adoptedObject, "@")
  } else {
    _openExistential(value, do: open)
  }
}

/// Returns the Swift value of a C view, or `nil` if it has another type. Values are not converted.
func swiftValue<T>(of value: kvo_value, as type: T.Type) -> T? {
  if let optional = type as? any OptionalProtocol.Type {
    guard value.bytes != nil else { return Any?.none as? T }
    func open<Wrapped>(_ wrapped: Wrapped.Type) -> Any? { swiftValue(of: value, as: wrapped) }
    return _openExistential(optional.wrappedType, do: open) as? T
  }
  guard let bytes = value.bytes, let encoding = value.type.map({ String(cString: $0) }) else { return nil }
  if let scalar = scalarEncodings.first(where: { $0.type == type }) {
    let fits = (encoding == scalar.encoding || encoding == scalar.alias) && value.size == MemoryLayout<T>.size
    return fits ? bits(at: bytes, as: type) : nil
  }
  switch encoding.first {
  case "*" where type == String.self:
    return bytes.load(as: UnsafePointer<CChar>?.self).map { String(cString: $0) } as? T
  case "@":
    guard let object = bytes.load(as: KeyValueObjectReference?.self) else { return nil }
    return keyValueObservable(at: object) as? T
  case "^", ":", "#", "*":
    guard let pointerType = type as? any UnsafePointerType.Type else { return nil }
    return bytes.load(as: UnsafeMutableRawPointer?.self).flatMap { pointerType.init(raw: $0) as? T }
  case "[", "<": return (type as? any CCollection.Type)?.init(cValue: value) as? T
  case "{" where _isPOD(T.self) && value.size == MemoryLayout<T>.size:
    // For a structure only the size is compared, not the members: any bit pattern is valid for most trivial types.
    return bits(at: bytes, as: type)
  default: return nil
  }
}

/// Returns a copy of a trivial value.
private func bits<T>(at bytes: UnsafeRawPointer, as type: T.Type) -> T {
  withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { storage in
    UnsafeMutableRawPointer(storage.baseAddress!).copyMemory(from: bytes, byteCount: MemoryLayout<T>.size)
    return storage[0]
  }
}
