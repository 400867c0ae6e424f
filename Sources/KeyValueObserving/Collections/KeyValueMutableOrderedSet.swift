// The proxy of an ordered set property, which notifies of each mutation with its indexes.

import CKVO
public import Foundation

/// A proxy of an ordered set property, whose mutations notify as insertions, removals and replacements.
///
/// ```swift
/// let tags = document.mutableOrderedSetValue(forKey: "tags", of: String.self)
/// tags.append("draft")
/// tags.append("draft")  // already contained: nothing changes, nobody is notified
/// ```
/// The property is an array with distinct elements, or an `NSOrderedSet`. Like ``KeyValueMutableArray``, the proxy refers to the
/// property, and it raises the same faults. Changes are delivered as those of an array, with indexes. As on Apple's platforms,
/// inserting an element that the set already contains has no effect and is not part of the notification.
public struct KeyValueMutableOrderedSet<Element: Hashable>: RandomAccessCollection {
  let list: KeyValueMutableArray<Element>

  init(_ place: ListPlace<Element>) { list = KeyValueMutableArray(place) }

  /// The number of elements; 0 if the property is `nil`.
  public var count: Int { list.count }
  /// The start index, which is always 0.
  public var startIndex: Int { 0 }
  /// The end index, which is the number of elements.
  public var endIndex: Int { count }

  /// Accesses the element at an index. Reading an index out of range is fault KVO0037 and ends the process.
  public subscript(position: Int) -> Element { list[position] }

  /// Accesses the elements in a range.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> { list[bounds] }

  /// Returns an iterator over the present elements, which later changes do not affect.
  public func makeIterator() -> IndexingIterator<[Element]> { list.makeIterator() }

  public func _copyToContiguousArray() -> ContiguousArray<Element> { list._copyToContiguousArray() }

  // MARK: - Insertion

  /// Appends an element that the set does not contain, as one insertion.
  public func append(_ element: Element) { append(contentsOf: [element]) }

  /// Appends the elements that the set does not contain, as one insertion.
  public func append(contentsOf elements: some Sequence<Element>) {
    list.append(contentsOf: fresh(elements).map(\.element))
  }

  /// Inserts an element that the set does not contain before an index, as one insertion.
  public func insert(_ element: Element, at position: Int) { insert([element], at: IndexSet(integer: position)) }

  /// Inserts the elements that the set does not contain so that they have the given indexes afterwards, as one insertion.
  ///
  /// If so many are already contained that an index would be past the end, the element is appended.
  /// - Parameters:
  ///   - positions: The indexes that they have afterwards.
  ///   - elements: The elements. If their number differs from that of the indexes, it is fault KVO0040.
  public func insert(_ elements: [Element], at positions: IndexSet) {
    guard fit(elements, positions, "-[NSKeyValueMutableOrderedSet insertObjects:atIndexes:]") else { return }
    let edit = ListEdit(.insertion, at: Positions(positions), elements)
    if let outside = edit.positionOutside(count: count) {
      return raiseOutside(outside, count: count, of: list.place.name, site: list.place.site)
    }
    let all = Array(positions)
    let inserted = fresh(elements)
    let places = inserted.enumerated().map { Swift.min(all[$1.offset], count + $0) }
    list.insert(inserted.map(\.element), at: IndexSet(places))
  }

  /// Appends those of the other elements that the set does not contain, as one insertion.
  public func formUnion(_ others: some Sequence<Element>) { append(contentsOf: others) }

  /// Returns the elements that the set does not contain, without duplicates, with their offsets in the argument.
  private func fresh(_ elements: some Sequence<Element>) -> [(offset: Int, element: Element)] {
    var present = Set(list.place.elements)
    return elements.enumerated().filter { present.insert($0.element).inserted }
  }

  // MARK: - Removal and replacement

  /// Removes and returns the element at an index, as one removal; `nil` after the fault for an index out of range.
  @discardableResult
  public func remove(at position: Int) -> Element! { list.remove(at: position) }

  /// Removes the elements at the given indexes, as one removal.
  public func remove(at positions: IndexSet) { list.remove(at: positions) }

  /// Removes an element that the set contains, as one removal.
  public func remove(_ element: Element) { subtract([element]) }

  /// Removes and returns the last element, as one removal. For an empty set it is fault KVO0037 and returns `nil`.
  @discardableResult
  public func removeLast() -> Element! { list.removeLast() }

  /// Removes all elements, as one removal.
  public func removeAll() { list.removeAll() }

  /// Removes the elements that satisfy a predicate, as one removal.
  public func removeAll(where isPicked: (Element) throws -> Bool) rethrows { try list.removeAll(where: isPicked) }

  /// Removes the given elements, as one removal.
  public func subtract(_ others: some Sequence<Element>) {
    let others = Set(others)
    list.removeAll { others.contains($0) }
  }

  /// Removes all other elements than the given ones, as one removal.
  public func formIntersection(_ others: some Sequence<Element>) {
    let others = Set(others)
    list.removeAll { !others.contains($0) }
  }

  /// Replaces the element at an index, as one replacement. Nothing changes if the set contains the new element at another index.
  public func replace(at position: Int, with element: Element) {
    replace(at: IndexSet(integer: position), with: [element])
  }

  /// Replaces the elements at the given indexes, as one replacement. New elements that the set contains at another index are
  /// omitted: their indexes keep the present elements, which are then contained too.
  ///
  /// - Parameters:
  ///   - positions: The indexes.
  ///   - elements: The elements. If their number differs from that of the indexes, it is fault KVO0040.
  public func replace(at positions: IndexSet, with elements: [Element]) {
    guard fit(elements, positions, "-[NSKeyValueMutableOrderedSet replaceObjectsAtIndexes:withObjects:]") else {
      return
    }
    if let outside = ListEdit(.replacement, at: Positions(positions), elements).positionOutside(count: count) {
      return raiseOutside(outside, count: count, of: list.place.name, site: list.place.site)
    }
    let replaced = distinct(Array(zip(positions, elements)))
    list.replace(at: IndexSet(replaced.map(\.position)), with: replaced.map(\.element))
  }

  /// Returns the replacements without those whose element the set contains at another index afterwards. An index without a replacement
  /// keeps its element, which may therefore be the new element of another index, also of an earlier one.
  private func distinct(_ replacements: [(position: Int, element: Element)]) -> [(position: Int, element: Element)] {
    let present = list.place.elements
    let positions = Set(replacements.map(\.position))
    var kept = Set(present.enumerated().filter { !positions.contains($0.offset) }.map(\.element))
    var replaced: [Element: Int] = [:]
    for (position, element) in replacements {
      var omitted: Int?
      if kept.contains(element) || replaced[element] != nil {
        omitted = position
      } else {
        replaced[element] = position
      }
      while let position = omitted {
        kept.insert(present[position])
        omitted = replaced.removeValue(forKey: present[position])
      }
    }
    return replacements.filter { replaced[$0.element] == $0.position }
  }

  /// Replaces all elements, as for an array: a removal of all, and an insertion.
  public func setArray(_ elements: [Element]) {
    var present: Set<Element> = []
    list.setArray(elements.filter { present.insert($0).inserted })
  }

  // MARK: - Reordering

  /// Exchanges two elements, as one replacement of both indexes.
  public func exchange(_ first: Int, _ second: Int) { list.swapAt(first, second) }

  /// Moves the elements at the given indexes before an index, as one replacement of the indexes whose elements change.
  public func move(fromOffsets positions: IndexSet, toOffset position: Int) {
    list.move(fromOffsets: positions, toOffset: position)
  }

  /// Sorts the elements by a predicate, as one replacement of the indexes whose elements change.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try list.sort(by: areInIncreasingOrder)
  }

  /// Reverses the order, as one replacement of the indexes whose elements change.
  public func reverse() { list.reverse() }

  private func fit(_ elements: [Element], _ positions: IndexSet, _ selector: String) -> Bool {
    if elements.count == positions.count { return true }
    raiseCounts(
      elements: elements.count, indexes: positions.count, selector, of: "ordered set", name: list.place.name,
      site: list.place.site)
    return false
  }
}

extension KeyValueMutableOrderedSet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Equatable
{
  public var description: String { list.description }
  public var debugDescription: String { list.debugDescription }
  /// The mirror that shows the elements in debuggers.
  public var customMirror: Mirror { list.customMirror }
}
