// The types whose values can be kept without retaining any object.

import Foundation

/// Returns whether values of a type hold no object references, so that keeping a value retains nothing.
///
/// That is known for trivial types such as numbers, for strings, data and URLs, and for optionals, arrays, sets and dictionaries of
/// these. An existential, a closure or any other structure may contain a reference and counts as holding one.
func holdsNoObject<Value>(_ type: Value.Type) -> Bool {
  if _isPOD(type) || type is any StringProtocol.Type || type == Data.self || type == URL.self { return true }
  guard let container = type as? any PlainContainer.Type else { return false }
  return container.itemTypes.allSatisfy { _openExistential($0, do: holdsNoObject) }
}

/// Returns whether a type, and each type that it is made of, is one of the standard library or Foundation.
func isOfLibrary(_ type: Any.Type) -> Bool {
  // Such as `Swift.Array<App.Money>` and `(Swift.Int, amount: App.Money)`: a name with a dot begins with its module.
  String(reflecting: type).split { "<>(), ".contains($0) }.allSatisfy { name in
    !name.contains(".") || ["Swift.", "Foundation.", "FoundationEssentials."].contains { name.hasPrefix($0) }
  }
}

/// A type that holds no object references if its elements hold none.
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
