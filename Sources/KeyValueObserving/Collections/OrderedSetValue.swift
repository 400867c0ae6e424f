// Foundation's ordered sets as lists: values like the others, for an edit makes another one.

public import Foundation

extension NSOrderedSet: _KeyValueList { public typealias _Item = Any }

extension NSOrderedSet: ListValue {
  var itemCount: Int? { count }
  func item(at position: Int) -> Any { object(at: position) }
  // Not `array`, whose strings and numbers would be Foundation's objects, which equal no Swift value.
  var itemArray: [Any] { (0..<count).map { object(at: $0) } }
  func picking(_ positions: Positions) -> [Any] { itemArray.picked(positions) }
  static func holding(_ items: [Any]) -> Self {
    // The mutable one is both. For others there is no list: see below.
    unsafeDowncast(NSMutableOrderedSet(array: items), to: self)
  }
}

/// The type as one of lists; `nil` for anything else, subclasses of Foundation's ordered sets among it: how to make one that
/// holds other elements, only they know.
func listType(_ type: Any.Type) -> (any ListValue.Type)? {
  guard let list = type as? any ListValue.Type else { return nil }
  let wrapped = (type as? any OptionalProtocol.Type)?.wrappedType ?? type
  let isForeign = wrapped is NSOrderedSet.Type && wrapped != NSOrderedSet.self && wrapped != NSMutableOrderedSet.self
  return isForeign ? nil : list
}

/// The value as a list.
func list(_ value: Any) -> (any ListValue)? { listType(type(of: value)).flatMap { _ in value as? any ListValue } }

extension ListValue where Self: NSOrderedSet {
  mutating func edit(_ edit: ListEdit<Any>) {
    var items = itemArray
    items.apply(edit)
    self = Self.holding(items)
  }
}
