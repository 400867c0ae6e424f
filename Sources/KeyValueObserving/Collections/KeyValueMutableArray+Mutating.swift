// Inserting, removing and replacing through a handle: what `Array` and `NSMutableArray` have.

import CKVO
public import Foundation

extension KeyValueMutableArray {
  /// Appends an element: one insertion.
  public func append(_ element: Element) { change(ListEdit(inserting: [element], at: count)) }

  /// Appends elements: one insertion.
  public func append(contentsOf elements: some Sequence<Element>) { insert(contentsOf: Array(elements), at: count) }

  /// Inserts an element before a position, which may be the end: one insertion.
  public func insert(_ element: Element, at position: Int) { change(ListEdit(inserting: [element], at: position)) }

  /// Inserts elements before a position, which may be the end: one insertion.
  public func insert(contentsOf elements: some Collection<Element>, at position: Int) {
    let edit = ListEdit(inserting: Array(elements), at: position)
    if !elements.isEmpty || isRefused(edit) { change(edit) }
  }

  /// Inserts elements so that they stand at these positions afterwards: one insertion.
  ///
  /// - Parameters:
  ///   - elements: As many as there are positions; otherwise fault KVO0040.
  ///   - positions: Each at most the number of elements before it.
  public func insert(_ elements: [Element], at positions: IndexSet) {
    guard fit(elements, positions, "-[NSKeyValueMutableArray insertObjects:atIndexes:]") else { return }
    changeUnlessEmpty(ListEdit(.insertion, at: Positions(positions), elements))
  }

  /// Removes an element: one removal.
  ///
  /// - Returns: The element; `nil` after the fault that there is none.
  @discardableResult
  public func remove(at position: Int) -> Element! { change(ListEdit(removing: position..<position + 1))?.first }

  /// Removes the elements at these positions: one removal.
  public func remove(at positions: IndexSet) { changeUnlessEmpty(ListEdit(.removal, at: Positions(positions))) }

  /// Removes the elements at these positions: one removal.
  public func remove(atOffsets positions: IndexSet) { remove(at: positions) }

  /// Removes the first element: one removal. Of an empty list it is fault KVO0037, and `nil`.
  @discardableResult
  public func removeFirst() -> Element! { remove(at: 0) }

  /// Removes the last element: one removal. Of an empty list it is fault KVO0037, and `nil`.
  @discardableResult
  public func removeLast() -> Element! { remove(at: Swift.max(count - 1, 0)) }

  /// Removes the first elements: one removal.
  public func removeFirst(_ number: Int) { removeSubrange(upTo: number, from: 0) }

  /// Removes the last elements: one removal.
  public func removeLast(_ number: Int) { removeSubrange(upTo: number, from: count - number) }

  private func removeSubrange(upTo number: Int, from start: Int) {
    guard number >= 0 else { return raiseOutside(number, count: count, of: place.name, site: place.site) }
    removeSubrange(start..<start + number)
  }

  /// Removes and returns the last element: one removal. Of an empty list it is `nil`, and no fault.
  @discardableResult
  public func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// Removes and returns the first element: one removal. Of an empty list it is `nil`, and no fault.
  @discardableResult
  public func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

  /// Removes all elements: one removal.
  public func removeAll(keepingCapacity: Bool = false) { changeUnlessEmpty(ListEdit(removing: 0..<count)) }

  /// Removes the elements that a condition picks: one removal.
  public func removeAll(where isPicked: (Element) throws -> Bool) rethrows {
    let positions = try place.elements.enumerated().filter { try isPicked($0.element) }.map(\.offset)
    changeUnlessEmpty(ListEdit(.removal, at: .list(positions)))
  }

  /// Removes the elements of a range: one removal.
  public func removeSubrange(_ bounds: Range<Int>) {
    if permits(bounds) { changeUnlessEmpty(ListEdit(removing: bounds)) }
  }

  /// Removes the elements of a range: one removal.
  public func removeSubrange(_ bounds: some RangeExpression<Int>) { removeSubrange(bounds.relative(to: self)) }

  /// Removes the elements of several ranges: one removal.
  public func removeSubranges(_ ranges: RangeSet<Int>) {
    let positions = ranges.ranges.flatMap { Array($0) }
    changeUnlessEmpty(ListEdit(.removal, at: .list(positions)))
  }

  /// Replaces a range by elements.
  ///
  /// By as many it is one replacement. Otherwise it is a replacement of as many as there are, and an insertion or a removal of the
  /// rest; into an empty range an insertion, by no elements a removal.
  public func replaceSubrange(_ bounds: Range<Int>, with elements: some Collection<Element>) {
    guard permits(bounds) else { return }
    let elements = Array(elements)
    let common = Swift.min(bounds.count, elements.count)
    let middle = bounds.lowerBound + common
    if common > 0 {
      guard change(ListEdit(replacing: bounds.lowerBound..<middle, with: Array(elements[..<common]))) != nil else {
        return
      }
    }
    if elements.count > common {
      insert(contentsOf: elements[common...], at: middle)
    } else {
      removeSubrange(middle..<bounds.upperBound)
    }
  }

  /// Replaces a range by elements, as for a `Range`.
  public func replaceSubrange(_ bounds: some RangeExpression<Int>, with elements: some Collection<Element>) {
    replaceSubrange(bounds.relative(to: self), with: elements)
  }

  /// Replaces the elements at these positions: one replacement.
  ///
  /// - Parameter elements: As many as there are positions; otherwise fault KVO0040.
  public func replace(at positions: IndexSet, with elements: [Element]) {
    guard fit(elements, positions, "-[NSKeyValueMutableArray replaceObjectsAtIndexes:withObjects:]") else { return }
    changeUnlessEmpty(ListEdit(.replacement, at: Positions(positions), elements))
  }

  /// Replaces all elements: a removal of all, and an insertion, as Apple's.
  public func setArray(_ elements: [Element]) {
    guard isEmpty || change(ListEdit(removing: 0..<count)) != nil else { return }
    changeUnlessEmpty(ListEdit(inserting: elements, at: count))
  }

  /// Whether the list would refuse it even if it were not empty: it is `nil`, or the position is outside.
  private func isRefused(_ edit: ListEdit<Element>) -> Bool {
    guard case .range(let range) = edit.positions, let count = place.count else { return true }
    return !(0...count).contains(range.lowerBound)
  }

  /// Changes nothing, and tells nobody, when no element is concerned. A list that is `nil` is a fault in any case.
  func changeUnlessEmpty(_ edit: ListEdit<Element>) {
    if edit.positions.count > 0 || place.count == nil { change(edit) }
  }

  private func fit(_ elements: [Element], _ positions: IndexSet, _ selector: String) -> Bool {
    if elements.count == positions.count { return true }
    raiseCounts(
      elements: elements.count, positions: positions.count, selector, of: "array", name: place.name, site: place.site)
    return false
  }

  /// Removes all elements that are equal to this one: a removal for each, the last first, as Apple's `removeObject:`.
  ///
  /// Elements are compared by `Equatable`, those that are not, by identity. To have one removal, use ``removeAll(where:)``.
  public func remove(_ element: Element) {
    for position in (0..<count).reversed() {
      // An observer may have removed more.
      guard position < count, equality(place.element(at: position), element) ?? false else { continue }
      remove(at: position)
    }
  }
}
