// Equality of two values of unknown types: by `Equatable`, otherwise by identity.

/// Returns whether two values are equal; `nil` if they cannot be compared.
func equality(_ first: Any, _ second: Any) -> Bool? {
  if let first = first as? any Equatable { return isEqual(first, second) }
  guard type(of: first) is AnyClass else { return nil }
  return type(of: second) is AnyClass && (first as AnyObject) === (second as AnyObject)
}

private func isEqual<Value: Equatable>(_ first: Value, _ second: Any) -> Bool {
  (second as? Value).map { $0 == first } ?? false
}
