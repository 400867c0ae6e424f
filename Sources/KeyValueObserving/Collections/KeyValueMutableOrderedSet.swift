// The handle of an ordered set that is a property: every mutation is told with its positions.

import CKVO
public import Foundation

/// An ordered set that is a property, whose mutations are told as insertions, removals and replacements.
///
/// ```swift
/// let tags = document.mutableOrderedSetValue(forKey: "tags", of: String.self)
/// tags.append("draft")
/// tags.append("draft")  // it is there: nothing changes, nobody is told
/// ```
/// The property is an array whose elements are all different, or an `NSOrderedSet`. It refers to the property, as
/// ``KeyValueMutableArray`` does, and has the same faults. Changes are told as those of an array, with positions; as on Apple's
/// platforms the insertion of what is there already is dropped from them.
public struct KeyValueMutableOrderedSet<Element: Hashable>: RandomAccessCollection {
  let list: KeyValueMutableArray<Element>

  init(_ place: ListPlace<Element>) { list = KeyValueMutableArray(place) }

  /// The number of elements, 0 when the property is `nil`.
  public var count: Int { list.count }
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { count }

  /// The element at a position. To read outside is fault KVO0037 and ends the process.
  public subscript(position: Int) -> Element { list[position] }

  /// The elements of a range.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> { list[bounds] }

  /// Iterates over the elements as they are now, whatever is changed meanwhile.
  public func makeIterator() -> IndexingIterator<[Element]> { list.makeIterator() }

  public func _copyToContiguousArray() -> ContiguousArray<Element> { list._copyToContiguousArray() }

  // MARK: - Inserting

  /// Appends an element, unless it is there: one insertion.
  public func append(_ element: Element) { append(contentsOf: [element]) }

  /// Appends the elements that are not there: one insertion.
  public func append(contentsOf elements: some Sequence<Element>) {
    list.append(contentsOf: fresh(elements).map(\.element))
  }

  /// Inserts an element before a position, unless it is there: one insertion.
  public func insert(_ element: Element, at position: Int) { insert([element], at: IndexSet(integer: position)) }

  /// Inserts the elements that are not there, so that they stand at their positions afterwards: one insertion.
  ///
  /// Where so many were there that a position would lie behind the end, the element comes last.
  /// - Parameter elements: As many as there are positions; otherwise fault KVO0040.
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

  /// Inserts those of the others that are not there at the end: one insertion.
  public func formUnion(_ others: some Sequence<Element>) { append(contentsOf: others) }

  /// The elements that are not there, each once, with their places in the argument.
  private func fresh(_ elements: some Sequence<Element>) -> [(offset: Int, element: Element)] {
    var present = Set(list.place.elements)
    return elements.enumerated().filter { present.insert($0.element).inserted }
  }

  // MARK: - Removing and replacing

  /// Removes an element: one removal. Returns `nil` after the fault that there is none.
  @discardableResult
  public func remove(at position: Int) -> Element! { list.remove(at: position) }

  /// Removes the elements at these positions: one removal.
  public func remove(at positions: IndexSet) { list.remove(at: positions) }

  /// Removes an element, if it is there: one removal.
  public func remove(_ element: Element) { subtract([element]) }

  /// Removes the last element: one removal. Of an empty set it is fault KVO0037, and `nil`.
  @discardableResult
  public func removeLast() -> Element! { list.removeLast() }

  /// Removes all elements: one removal.
  public func removeAll() { list.removeAll() }

  /// Removes the elements that a condition picks: one removal.
  public func removeAll(where isPicked: (Element) throws -> Bool) rethrows { try list.removeAll(where: isPicked) }

  /// Removes these elements: one removal.
  public func subtract(_ others: some Sequence<Element>) {
    let others = Set(others)
    list.removeAll { others.contains($0) }
  }

  /// Removes all but these elements: one removal.
  public func formIntersection(_ others: some Sequence<Element>) {
    let others = Set(others)
    list.removeAll { !others.contains($0) }
  }

  /// Replaces an element: one replacement. Nothing changes if the new one stands elsewhere in the set.
  public func replace(at position: Int, with element: Element) {
    replace(at: IndexSet(integer: position), with: [element])
  }

  /// Replaces the elements at these positions: one replacement. Those that stand elsewhere in the set are left out.
  ///
  /// - Parameter elements: As many as there are positions; otherwise fault KVO0040.
  public func replace(at positions: IndexSet, with elements: [Element]) {
    guard fit(elements, positions, "-[NSKeyValueMutableOrderedSet replaceObjectsAtIndexes:withObjects:]") else {
      return
    }
    var others = Set(list.place.elements.enumerated().filter { !positions.contains($0.offset) }.map(\.element))
    let replaced = zip(positions, elements).filter { others.insert($0.1).inserted }
    list.replace(at: IndexSet(replaced.map(\.0)), with: replaced.map(\.1))
  }

  /// Replaces all elements: a removal of all, and an insertion, as of an array.
  public func setArray(_ elements: [Element]) {
    var present: Set<Element> = []
    list.setArray(elements.filter { present.insert($0).inserted })
  }

  // MARK: - Reordering

  /// Exchanges two elements: one replacement of both positions.
  public func exchange(_ first: Int, _ second: Int) { list.swapAt(first, second) }

  /// Moves the elements at these positions before a position: one replacement of the positions that differ.
  public func move(fromOffsets positions: IndexSet, toOffset position: Int) {
    list.move(fromOffsets: positions, toOffset: position)
  }

  /// Sorts: one replacement of the positions that differ.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try list.sort(by: areInIncreasingOrder)
  }

  /// Reverses the order: one replacement of the positions that differ.
  public func reverse() { list.reverse() }

  private func fit(_ elements: [Element], _ positions: IndexSet, _ selector: String) -> Bool {
    if elements.count == positions.count { return true }
    raiseCounts(
      elements: elements.count, positions: positions.count, selector, of: "ordered set", name: list.place.name,
      site: list.place.site)
    return false
  }
}

extension KeyValueMutableOrderedSet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Equatable
{
  public var description: String { list.description }
  public var debugDescription: String { list.debugDescription }
  /// The elements, for debuggers.
  public var customMirror: Mirror { list.customMirror }
}
