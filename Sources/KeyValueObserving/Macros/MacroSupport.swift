// What the macros' expansions call besides the runtime: a mark for classes, and coding of optionals by inference.

/// A class that has a header `_$kvo` and the class method `__keyValueProperties`, which observable subclasses build on.
///
/// The macro adds it. It is apart from `KeyValueObservable` so that a class may conform to a protocol that refines that
/// one: a conformance to this one always means that the class or its superclass has a header.
public protocol _KeyValueObservableClass: KeyValueObservable {}

extension KeyedDecodingContainer {
  /// Decodes what the storage at the left of the assignment wants.
  @_disfavoredOverload  // to `T!` either could be assigned
  public func __keyValueDecode<Value: Decodable>(forKey key: Key) throws -> Value {
    try decode(Value.self, forKey: key)
  }

  /// As synthesised code does, takes a missing key for nil.
  public func __keyValueDecode<Value: Decodable>(forKey key: Key) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: key)
  }
}

extension KeyedEncodingContainer {
  public mutating func __keyValueEncode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encode(value, forKey: key)
  }

  /// As synthesised code does, leaves nil out.
  public mutating func __keyValueEncode<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    try encodeIfPresent(value, forKey: key)
  }
}
