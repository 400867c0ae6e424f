// The faults of collection changes.

import CKVO

/// A collection that an object has for a key, as reports name it.
protocol NamedCollection {
  var object: any KeyValueObservable { get }
  var key: String { get }
  var site: SourceLocation? { get }
}

extension NamedCollection {
  private var identity: ObserverIdentity { ObserverIdentity(object) }
  var name: String { "\"\(key)\" of \(identity.className)@\(identity.addressText)" }

  func raiseNil() {
    raiseFault(
      KVO_FAULT_NIL_COLLECTION, "\(name) is nil and cannot be changed by its elements",
      apple: "\(identity.className): value for key \(key) of object \(identity.addressText) is nil",
      help: "set the property to an empty collection first", site: site)
  }

  func raiseReadOnly() { raise(.undefinedKey(of: object, key: key, .set), .coding(site)) }

  private func typeName(of element: Any) -> String { "\(Swift.type(of: unwrapped(element) ?? element))" }

  /// Reports a given element, which the collection cannot hold.
  func raiseMismatch(_ given: Any, expected: Any.Type) {
    raiseFault(
      KVO_FAULT_TYPE_MISMATCH, "\(name) holds elements of type \(expected), not \(typeName(of: given))", site: site)
  }

  /// Reports an element of the collection, which a proxy cannot return as the type that it accesses elements as.
  func raiseUnreadable(_ element: Any, as type: Any.Type) {
    raiseFault(
      KVO_FAULT_TYPE_MISMATCH,
      "\(name) holds an element of type \(typeName(of: element)), and is accessed as a collection of \(type)",
      site: site)
  }

  /// Returns an element as the type that a proxy accesses it as.
  func element<Item, Element>(_ item: Item, as _: Element.Type = Element.self) -> Element {
    if let element = recast(item, as: Element.self) { return element }
    raiseUnreadable(item, as: Element.self)
    // There is no value to return, whatever the policy is.
    fatalError("\(name) holds a \(Swift.type(of: item)), not a \(Element.self)")
  }

  func raiseNoCollection(_ type: Any.Type, _ expected: String) {
    raiseFault(
      KVO_FAULT_TYPE_MISMATCH, "\(name) is of type \(type), not \(expected)",
      help:
        "an array, a ContiguousArray, a Set or an NSOrderedSet, also an optional one, can be changed by its elements",
      site: site)
  }
}

/// Returns the first element that is not of a type, as it was before it became an `AnyHashable`.
func unsuitable<Elements: Sequence, Result>(_ elements: Elements, as type: Result.Type) -> Any? {
  let found = elements.first { recast($0, as: type) == nil }
  return found.map { Elements.Element.self == AnyHashable.self ? ($0 as! AnyHashable).base : $0 as Any }
}

/// - Parameter name: The name of the collection that has `count` elements.
func raiseOutside(_ index: Int, count: Int, of name: String, site: SourceLocation?) {
  raiseFault(
    KVO_FAULT_OUT_OF_RANGE, "index \(index) is outside of \(name), which has \(count) element\(count == 1 ? "" : "s")",
    site: site)
}

/// - Parameters:
///   - selector: The name of Apple's method.
///   - name: The name of the collection to change.
func raiseCounts(
  elements: Int, indexes: Int, _ selector: String, of kind: String, name: String, site: SourceLocation?
) {
  let given = elements == 1 ? "1 element is given" : "\(elements) elements are given"
  raiseFault(
    KVO_FAULT_BAD_COLLECTION_CHANGE,
    "\(given) for \(indexes) index\(indexes == 1 ? "" : "es") of \(name)",
    apple: "\(selector): "
      + "the counts of the passed-in \(kind) (\(elements)) and index set (\(indexes)) must be identical.",
    site: site)
}
