// Support for the code that the macros generate: a marker protocol, and coding of optionals through type inference.

/// A class that has a header `_$kvo` and the class method `__keyValueProperties`, which observable subclasses call.
///
/// The macro adds the conformance. It is separate from `KeyValueObservable`, because a class may conform to that protocol through a
/// protocol that refines it. A conformance to this one always means that the class or its superclass has a header.
public protocol _KeyValueObservableClass: KeyValueObservable {}

extension KeyedDecodingContainer {
  /// Decodes a value of the type that the assignment requires.
  @_disfavoredOverload  // an assignment to `T!` would otherwise be ambiguous
  public func __keyValueDecode<Value: Decodable>(forKey key: Key) throws -> Value {
    try decode(Value.self, forKey: key)
  }

  /// Decodes an optional; as in synthesized code, a missing key is `nil`.
  public func __keyValueDecode<Value: Decodable>(forKey key: Key) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: key)
  }
}

extension KeyedEncodingContainer {
  public mutating func __keyValueEncode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encode(value, forKey: key)
  }

  /// Encodes an optional; as in synthesized code, `nil` is left out.
  public mutating func __keyValueEncode<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    try encodeIfPresent(value, forKey: key)
  }
}
