// The types of values with elements, and the operations on them.

/// A type of property whose changes can be delivered as insertions, removals and replacements of elements.
///
/// Arrays, contiguous arrays, sets, and optionals of these conform. Other types need not conform.
public protocol _KeyValueCollection {}

/// An ordered collection of elements.
public protocol _KeyValueList<_Item>: _KeyValueCollection {
  associatedtype _Item
}

/// An unordered collection of elements.
public protocol _KeyValueSet<_Item>: _KeyValueCollection {
  associatedtype _Item: Hashable
}

extension Array: _KeyValueList { public typealias _Item = Element }
extension ContiguousArray: _KeyValueList { public typealias _Item = Element }
extension Set: _KeyValueSet { public typealias _Item = Element }
extension Optional: _KeyValueCollection where Wrapped: _KeyValueCollection {}
extension Optional: _KeyValueList where Wrapped: _KeyValueList { public typealias _Item = Wrapped._Item }
extension Optional: _KeyValueSet where Wrapped: _KeyValueSet { public typealias _Item = Wrapped._Item }

/// The operations on a list of any type.
protocol ListValue<_Item>: _KeyValueList {
  /// The number of elements; `nil` if the list is `nil`. The functions below require a list that is not `nil`.
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

/// The operations on a set of any type.
protocol SetValue<_Item>: _KeyValueSet {
  /// The members; `nil` if the set is `nil`.
  var items: Set<_Item>? { get }
  static func holding(_ items: Set<_Item>) -> Self
  /// Changes a set that is not `nil`.
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

/// Returns the value as another type: without a conversion if the types are the same, otherwise with a cast.
func recast<Value, Result>(_ value: Value, as type: Result.Type) -> Result? {
  Value.self == Result.self ? unsafeBitCast(value, to: type) : value as? Result
}

/// Returns the elements as another type; `nil` if one of them has a different type.
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

/// Returns the members as another type; `nil` if one of them has a different type.
func recast<Member, Result>(members: Set<Member>, as type: Result.Type) -> Set<Result>? {
  if Member.self == Result.self { return unsafeBitCast(members, to: Set<Result>.self) }
  var cast: Set<Result> = []
  for member in members {
    guard let member = member as? Result else { return nil }
    cast.insert(member)
  }
  return cast
}
