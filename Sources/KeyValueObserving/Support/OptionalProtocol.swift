// Optionals, seen without knowing what they wrap.

protocol OptionalProtocol {
  static var wrappedType: Any.Type { get }
  static var noValue: Self { get }
  /// An optional of a value that is converted to the wrapped type.
  static func wrapping(_ value: Any) throws(ConversionFailure) -> Self
  /// The wrapped value, or `nil`.
  var wrappedAny: Any? { get }
}

extension Optional: OptionalProtocol {
  static var wrappedType: Any.Type { Wrapped.self }
  static var noValue: Wrapped? { nil }
  static func wrapping(_ value: Any) throws(ConversionFailure) -> Wrapped? { try converted(value, to: Wrapped.self) }
  var wrappedAny: Any? { map { $0 as Any } }
}

/// The value inside any number of optionals, or `nil`.
func unwrapped(_ value: Any) -> Any? {
  // To be asked for a conformance takes long, and most values are none.
  func isOptional<Value>(_: Value.Type) -> Bool { _isOptional(Value.self) }
  guard _openExistential(type(of: value), do: isOptional) else { return value }
  guard let optional = value as? any OptionalProtocol else { return value }
  return optional.wrappedAny.flatMap(unwrapped)
}
