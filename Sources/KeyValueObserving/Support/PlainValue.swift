// Which values may be kept: those that keep no object alive.

import Foundation

/// Tells whether a value of a type holds no object, so that who keeps the value keeps nothing alive.
///
/// The type alone says so: of numbers and whatever else is trivial, of texts, data and URLs, and of optionals, arrays, sets and
/// dictionaries of these. What an existential, a closure or any other structure holds cannot be seen, and counts as an object.
func holdsNoObject<Value>(_ type: Value.Type) -> Bool {
  if _isPOD(type) || type is any StringProtocol.Type || type == Data.self || type == URL.self { return true }
  guard let container = type as? any PlainContainer.Type else { return false }
  return container.itemTypes.allSatisfy { _openExistential($0, do: holdsNoObject) }
}

/// A type that holds no object if its items hold none.
private protocol PlainContainer {
  static var itemTypes: [Any.Type] { get }
}

extension Optional: PlainContainer {
  fileprivate static var itemTypes: [Any.Type] { [Wrapped.self] }
}

extension Array: PlainContainer {
  fileprivate static var itemTypes: [Any.Type] { [Element.self] }
}

extension ContiguousArray: PlainContainer {
  fileprivate static var itemTypes: [Any.Type] { [Element.self] }
}

extension Set: PlainContainer {
  fileprivate static var itemTypes: [Any.Type] { [Element.self] }
}

extension Dictionary: PlainContainer {
  fileprivate static var itemTypes: [Any.Type] { [Key.self, Value.self] }
}
