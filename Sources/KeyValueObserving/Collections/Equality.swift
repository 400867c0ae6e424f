// Equality of two values of unknown types: by `Equatable`, otherwise by identity.

/// Returns whether two values are equal; `nil` if they cannot be compared.
func equality(_ first: Any, _ second: Any) -> Bool? {
  if let first = first as? any Equatable { return isSame(first, second) }
  guard type(of: first) is AnyClass else { return nil }
  return type(of: second) is AnyClass && (first as AnyObject) === (second as AnyObject)
}

private func isSame<Value: Equatable>(_ first: Value, _ second: Any) -> Bool {
  (second as? Value).map { $0 == first } ?? false
}

/// Returns whether two values are equal, by `Equatable` or identity, behind their optionals; `false` if they cannot be compared.
package func isEqual(_ first: Any, _ second: Any) -> Bool {
  switch (unwrapped(first), unwrapped(second)) {
  case (nil, nil): true
  case (let first?, let second?): equality(first, second) ?? false
  default: false
  }
}
