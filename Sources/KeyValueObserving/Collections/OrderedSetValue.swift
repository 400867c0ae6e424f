// Foundation's ordered sets as lists. They are treated as values: an edit creates a new one.

public import Foundation

extension NSOrderedSet: _KeyValueList { public typealias _Item = Any }

extension NSOrderedSet: ListValue {
  var itemCount: Int? { count }
  func item(at position: Int) -> Any { object(at: position) }
  // Not `array`: strings and numbers in it would be Foundation objects, which are not equal to Swift values.
  var itemArray: [Any] { (0..<count).map { object(at: $0) } }
  func picking(_ positions: Positions) -> [Any] { itemArray.picked(positions) }
  static func holding(_ items: [Any]) -> Self {
    // An NSMutableOrderedSet is also an NSOrderedSet. Other subclasses are not lists: see below.
    unsafeDowncast(NSMutableOrderedSet(array: items), to: self)
  }
}

/// Returns a type as a list type; `nil` for any other type, including subclasses of Foundation's ordered sets, because only they
/// know how to create an instance with other elements.
func listType(_ type: Any.Type) -> (any ListValue.Type)? {
  guard let list = type as? any ListValue.Type else { return nil }
  let wrapped = (type as? any OptionalProtocol.Type)?.wrappedType ?? type
  let isSubclass = wrapped is NSOrderedSet.Type && wrapped != NSOrderedSet.self && wrapped != NSMutableOrderedSet.self
  return isSubclass ? nil : list
}

/// Returns the value as a list.
func list(_ value: Any) -> (any ListValue)? { listType(type(of: value)).flatMap { _ in value as? any ListValue } }

extension ListValue where Self: NSOrderedSet {
  mutating func edit(_ edit: ListEdit<Any>) {
    var items = itemArray
    items.apply(edit)
    self = Self.holding(items)
  }
}
