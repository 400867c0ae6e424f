// Swift values as C sees them, and back: type encodings and views.

import CKVO

/// The encoding of a Swift type, or "?" when C cannot see its values.
func cEncoding(of type: Any.Type) -> String {
  if let optional = type as? any OptionalProtocol.Type { return cEncoding(of: optional.wrappedType) }
  if type == String.self { return "*" }
  if type is any KeyValueObservable.Type { return "@" }
  if type is any UnsafePointerType.Type { return "^v" }
  return scalarEncodings.first { $0.type == type }?.encoding ?? "?"
}

/// Swift's scalars with the encodings that C may give to the same bits, the one we give first.
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

/// Hands a C view of a Swift value to `body`; the view is valid until it returns.
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
  } else if let object = observable(value) {
    yield(object.adoptedObject, "@")
  } else {
    _openExistential(value, do: open)
  }
}

/// The Swift value that a C view shows, or `nil` when it is of another type. Nothing is converted.
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
    return swiftObject(at: object) as? T
  case "^", ":", "#", "*":
    guard let pointerType = type as? any UnsafePointerType.Type else { return nil }
    return bytes.load(as: UnsafeMutableRawPointer?.self).flatMap { pointerType.init(raw: $0) as? T }
  case "{" where _isPOD(T.self) && value.size == MemoryLayout<T>.size:
    // A structure's members are not compared, only its extent; any bits are a valid value of most trivial types.
    return bits(at: bytes, as: type)
  default: return nil
  }
}

/// A copy of trivial bits.
private func bits<T>(at bytes: UnsafeRawPointer, as type: T.Type) -> T {
  withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { storage in
    UnsafeMutableRawPointer(storage.baseAddress!).copyMemory(from: bytes, byteCount: MemoryLayout<T>.size)
    return storage[0]
  }
}

/// The Swift object that a header belongs to: an instance of an observable class, or a view of a C object.
func swiftObject(at object: KeyValueObjectReference) -> (any KeyValueObservable)? {
  guard let cls = kvo_object_class(object) else { return nil }
  guard kvo_class_is_of_binding(cls) else { return KeyValueRuntimeObject(borrowing: object) }
  let instance = Unmanaged<AnyObject>.fromOpaque(kvo_object_instance(object)).takeUnretainedValue()
  return instance as? any KeyValueObservable
}
