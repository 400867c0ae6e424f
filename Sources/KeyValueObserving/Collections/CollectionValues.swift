// The types of values that hold elements: what the runtime may pick from them and change in them.

import Foundation

/// A type of property whose elements can be told as inserted, removed and replaced.
///
/// Arrays, contiguous arrays and sets are, and optionals of them. Nothing else has to conform.
public protocol _KeyValueCollection {}

/// Holds elements in order.
public protocol _KeyValueList<_Item>: _KeyValueCollection {
  associatedtype _Item
}

/// Holds elements without an order.
public protocol _KeyValueSet<_Item>: _KeyValueCollection {
  associatedtype _Item: Hashable
}

extension Array: _KeyValueList { public typealias _Item = Element }
extension ContiguousArray: _KeyValueList { public typealias _Item = Element }
extension Set: _KeyValueSet { public typealias _Item = Element }
extension Optional: _KeyValueCollection where Wrapped: _KeyValueCollection {}
extension Optional: _KeyValueList where Wrapped: _KeyValueList { public typealias _Item = Wrapped._Item }
extension Optional: _KeyValueSet where Wrapped: _KeyValueSet { public typealias _Item = Wrapped._Item }

/// What is done with a list, whatever its type.
protocol ListValue<_Item>: _KeyValueList {
  /// `nil` for a list that is `nil`; the functions below are for one that is not.
  var itemCount: Int? { get }
  func item(at position: Int) -> _Item
  var itemArray: [_Item] { get }
  func picking(_ positions: Positions) -> [_Item]
  static func holding(_ items: [_Item]) -> Self
  mutating func edit(_ edit: ListEdit<_Item>)
}

extension Array: ListValue {
  var itemCount: Int? { count }
  func item(at position: Int) -> Element { self[position] }
  var itemArray: [Element] { self }
  func picking(_ positions: Positions) -> [Element] { picked(positions) }
  static func holding(_ items: [Element]) -> [Element] { items }
  mutating func edit(_ edit: ListEdit<Element>) { apply(edit) }
}

extension ContiguousArray: ListValue {
  var itemCount: Int? { count }
  func item(at position: Int) -> Element { self[position] }
  var itemArray: [Element] { Array(self) }
  func picking(_ positions: Positions) -> [Element] { Array(picked(positions)) }
  static func holding(_ items: [Element]) -> ContiguousArray { ContiguousArray(items) }
  mutating func edit(_ edit: ListEdit<Element>) { apply(edit) }
}

extension Optional: ListValue where Wrapped: ListValue {
  var itemCount: Int? { flatMap(\.itemCount) }
  func item(at position: Int) -> Wrapped._Item { unsafelyUnwrapped.item(at: position) }
  var itemArray: [Wrapped._Item] { self?.itemArray ?? [] }
  func picking(_ positions: Positions) -> [Wrapped._Item] { unsafelyUnwrapped.picking(positions) }
  static func holding(_ items: [Wrapped._Item]) -> Wrapped? { .some(Wrapped.holding(items)) }
  mutating func edit(_ edit: ListEdit<Wrapped._Item>) { self?.edit(edit) }
}

/// What is done with a set, whatever its type.
protocol SetValue<_Item>: _KeyValueSet {
  /// `nil` for one that is `nil`.
  var items: Set<_Item>? { get }
  static func holding(_ items: Set<_Item>) -> Self
  /// Of one that is not `nil`.
  mutating func edit(removing removed: Set<_Item>, adding added: Set<_Item>)
}

extension Set: SetValue {
  var items: Set<Element>? { self }
  static func holding(_ items: Set<Element>) -> Set<Element> { items }
  mutating func edit(removing removed: Set<Element>, adding added: Set<Element>) {
    subtract(removed)
    formUnion(added)
  }
}

extension Optional: SetValue where Wrapped: SetValue {
  var items: Set<Wrapped._Item>? { flatMap(\.items) }
  static func holding(_ items: Set<Wrapped._Item>) -> Wrapped? { .some(Wrapped.holding(items)) }
  mutating func edit(removing removed: Set<Wrapped._Item>, adding added: Set<Wrapped._Item>) {
    self?.edit(removing: removed, adding: added)
  }
}

/// The value as another type: itself when the types are the same, which costs nothing, else by a cast.
func recast<Value, Result>(_ value: Value, as type: Result.Type) -> Result? {
  Value.self == Result.self ? unsafeBitCast(value, to: type) : value as? Result
}

/// `nil` if one of the elements is of another type.
func recast<Element, Result>(_ elements: [Element], elementsAs type: Result.Type) -> [Result]? {
  if Element.self == Result.self { return unsafeBitCast(elements, to: [Result].self) }
  var cast: [Result] = []
  cast.reserveCapacity(elements.count)
  for element in elements {
    guard let element = element as? Result else { return nil }
    cast.append(element)
  }
  return cast
}

/// `nil` if one of the members is of another type.
func recast<Member, Result>(members: Set<Member>, as type: Result.Type) -> Set<Result>? {
  if Member.self == Result.self { return unsafeBitCast(members, to: Set<Result>.self) }
  var cast: Set<Result> = []
  for member in members {
    guard let member = member as? Result else { return nil }
    cast.insert(member)
  }
  return cast
}
