// Whether two values are equal, when their type is not known: by Equatable, else by identity.

/// `nil` when they cannot be compared.
func equality(_ first: Any, _ second: Any) -> Bool? {
  if let first = first as? any Equatable { return isEqual(first, second) }
  guard type(of: first) is AnyClass else { return nil }
  return type(of: second) is AnyClass && (first as AnyObject) === (second as AnyObject)
}

private func isEqual<Value: Equatable>(_ first: Value, _ second: Any) -> Bool {
  (second as? Value).map { $0 == first } ?? false
}
