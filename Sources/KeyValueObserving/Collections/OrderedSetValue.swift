// Foundation's ordered sets as lists: values like the others, for an edit makes another one.

public import Foundation

extension NSOrderedSet: _KeyValueList { public typealias _Item = Any }

extension NSOrderedSet: ListValue {
  var itemCount: Int? { count }
  func item(at position: Int) -> Any { object(at: position) }
  var itemArray: [Any] { array }
  func picking(_ positions: Positions) -> [Any] { array.picked(positions) }
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
