// Insertion, removal and replacement through a proxy: the methods of `Array` and `NSMutableArray`.

import CKVO
public import Foundation

extension KeyValueMutableArray {
  /// Appends an element, as one insertion.
  public func append(_ element: Element) { change(ListEdit(inserting: [element], at: count)) }

  /// Appends elements, as one insertion.
  public func append(contentsOf elements: some Sequence<Element>) { insert(contentsOf: Array(elements), at: count) }

  /// Inserts an element before an index, which may be the end index, as one insertion.
  public func insert(_ element: Element, at position: Int) { change(ListEdit(inserting: [element], at: position)) }

  /// Inserts elements before an index, which may be the end index, as one insertion.
  public func insert(contentsOf elements: some Collection<Element>, at position: Int) {
    let edit = ListEdit(inserting: Array(elements), at: position)
    if !elements.isEmpty || isRefused(edit) { change(edit) }
  }

  /// Inserts elements so that they have the given indexes afterwards, as one insertion.
  ///
  /// - Parameters:
  ///   - elements: The elements. If their number differs from that of the indexes, it is fault KVO0040.
  ///   - positions: The indexes. Each must not exceed the number of elements before it.
  public func insert(_ elements: [Element], at positions: IndexSet) {
    guard fit(elements, positions, "-[NSKeyValueMutableArray insertObjects:atIndexes:]") else { return }
    changeUnlessEmpty(ListEdit(.insertion, at: Positions(positions), elements))
  }

  /// Removes the element at an index, as one removal.
  ///
  /// - Returns: The element; `nil` after the fault for an index out of range.
  @discardableResult
  public func remove(at position: Int) -> Element! { change(ListEdit(removing: position..<position + 1))?.first }

  /// Removes the elements at the given indexes, as one removal.
  public func remove(at positions: IndexSet) { changeUnlessEmpty(ListEdit(.removal, at: Positions(positions))) }

  /// Removes the elements at the given indexes, as one removal.
  public func remove(atOffsets positions: IndexSet) { remove(at: positions) }

  /// Removes and returns the first element, as one removal. For an empty list it is fault KVO0037 and returns `nil`.
  @discardableResult
  public func removeFirst() -> Element! { remove(at: 0) }

  /// Removes and returns the last element, as one removal. For an empty list it is fault KVO0037 and returns `nil`.
  @discardableResult
  public func removeLast() -> Element! { remove(at: Swift.max(count - 1, 0)) }

  /// Removes the given number of elements from the beginning, as one removal.
  public func removeFirst(_ number: Int) { removeSubrange(upTo: number, from: 0) }

  /// Removes the given number of elements from the end, as one removal.
  public func removeLast(_ number: Int) { removeSubrange(upTo: number, from: count - number) }

  private func removeSubrange(upTo number: Int, from start: Int) {
    guard number >= 0 else { return raiseOutside(number, count: count, of: place.name, site: place.site) }
    removeSubrange(start..<start + number)
  }

  /// Removes and returns the last element, as one removal; returns `nil`, without a fault, for an empty list.
  @discardableResult
  public func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// Removes and returns the first element, as one removal; returns `nil`, without a fault, for an empty list.
  @discardableResult
  public func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

  /// Removes all elements, as one removal.
  public func removeAll(keepingCapacity: Bool = false) { changeUnlessEmpty(ListEdit(removing: 0..<count)) }

  /// Removes the elements that satisfy a predicate, as one removal.
  public func removeAll(where isPicked: (Element) throws -> Bool) rethrows {
    let positions = try place.elements.enumerated().filter { try isPicked($0.element) }.map(\.offset)
    changeUnlessEmpty(ListEdit(.removal, at: .list(positions)))
  }

  /// Removes the elements in a range, as one removal.
  public func removeSubrange(_ bounds: Range<Int>) {
    if permits(bounds) { changeUnlessEmpty(ListEdit(removing: bounds)) }
  }

  /// Removes the elements in a range, as one removal.
  public func removeSubrange(_ bounds: some RangeExpression<Int>) { removeSubrange(range(of: bounds)) }

  /// Removes the elements in several ranges, as one removal.
  public func removeSubranges(_ ranges: RangeSet<Int>) {
    let positions = ranges.ranges.flatMap { Array($0) }
    changeUnlessEmpty(ListEdit(.removal, at: .list(positions)))
  }

  /// Replaces the elements in a range.
  ///
  /// If the number of elements stays the same, it is one replacement. Otherwise it is a replacement of the elements in common, and
  /// an insertion or a removal of the rest. If the range is empty, it is an insertion; without new elements it is a removal.
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

  /// Replaces the elements in a range expression; see the method for `Range`.
  public func replaceSubrange(_ bounds: some RangeExpression<Int>, with elements: some Collection<Element>) {
    replaceSubrange(range(of: bounds), with: elements)
  }

  /// Replaces the elements at the given indexes, as one replacement.
  ///
  /// - Parameters:
  ///   - positions: The indexes.
  ///   - elements: The elements. If their number differs from that of the indexes, it is fault KVO0040.
  public func replace(at positions: IndexSet, with elements: [Element]) {
    guard fit(elements, positions, "-[NSKeyValueMutableArray replaceObjectsAtIndexes:withObjects:]") else { return }
    changeUnlessEmpty(ListEdit(.replacement, at: Positions(positions), elements))
  }

  /// Replaces all elements, as Apple's method does: a removal of all, and an insertion.
  public func setArray(_ elements: [Element]) {
    guard isEmpty || change(ListEdit(removing: 0..<count)) != nil else { return }
    changeUnlessEmpty(ListEdit(inserting: elements, at: count))
  }

  /// Returns whether the list would refuse an edit even with elements: the list is `nil`, or the index is out of range.
  private func isRefused(_ edit: ListEdit<Element>) -> Bool {
    guard case .range(let range) = edit.positions, let count = place.count else { return true }
    return !(0...count).contains(range.lowerBound)
  }

  /// Makes a change unless it concerns no elements; then nobody is notified. A list that is `nil` is always a fault.
  func changeUnlessEmpty(_ edit: ListEdit<Element>) {
    if edit.positions.count > 0 || place.count == nil { change(edit) }
  }

  private func fit(_ elements: [Element], _ positions: IndexSet, _ selector: String) -> Bool {
    if elements.count == positions.count { return true }
    raiseCounts(
      elements: elements.count, indexes: positions.count, selector, of: "array", name: place.name, site: place.site)
    return false
  }

  /// Removes all elements that are equal to an element, like Apple's `removeObject:`: one removal for each, the last one first.
  ///
  /// Elements are compared by `Equatable`, or by identity if they are not equatable. For a single removal use
  /// ``removeAll(where:)``.
  public func remove(_ element: Element) {
    for position in (0..<count).reversed() {
      // An observer may have removed elements meanwhile.
      guard position < count, equality(place.element(at: position), element) ?? false else { continue }
      remove(at: position)
    }
  }
}
