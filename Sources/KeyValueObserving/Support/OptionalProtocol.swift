// Optionals of any wrapped type.

protocol OptionalProtocol {
  static var wrappedType: Any.Type { get }
  static var noValue: Self { get }
  /// The key path of `!`.
  static var forced: AnyKeyPath { get }
  /// Converts a value to the wrapped type and returns it as an optional.
  static func wrapping(_ value: Any) throws(ConversionFailure) -> Self
  /// The wrapped value, or `nil`.
  var wrappedAny: Any? { get }
}

extension Optional: OptionalProtocol {
  static var wrappedType: Any.Type { Wrapped.self }
  static var noValue: Wrapped? { nil }
  static var forced: AnyKeyPath { \Wrapped?.self! }
  static func wrapping(_ value: Any) throws(ConversionFailure) -> Wrapped? { try converted(value, to: Wrapped.self) }
  var wrappedAny: Any? { map { $0 as Any } }
}

/// Returns the value without its optionals, or `nil`.
package func unwrapped(_ value: Any) -> Any? {
  // Testing for the conformance is slow, and most values are not optionals.
  func isOptional<Value>(_: Value.Type) -> Bool { _isOptional(Value.self) }
  guard _openExistential(type(of: value), do: isOptional) else { return value }
  guard let optional = value as? any OptionalProtocol else { return value }
  return optional.wrappedAny.flatMap(unwrapped)
}
