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
    // The mutable one is both.
    unsafeDowncast(NSMutableOrderedSet(array: items), to: self)
  }
}

extension ListValue where Self: NSOrderedSet {
  mutating func edit(_ edit: ListEdit<Any>) {
    var items = itemArray
    items.apply(edit)
    self = Self.holding(items)
  }
}
