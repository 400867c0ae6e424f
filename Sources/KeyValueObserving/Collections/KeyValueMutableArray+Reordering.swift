// Reordering of elements through a proxy: one replacement of the indexes whose elements change.

public import Foundation

extension KeyValueMutableArray {
  /// Exchanges two elements, as one replacement of both indexes.
  public func swapAt(_ first: Int, _ second: Int) {
    guard first != second else { return }
    let (low, high) = (Swift.min(first, second), Swift.max(first, second))
    guard permits(low..<low + 1), permits(high..<high + 1) else { return }
    change(
      ListEdit(.replacement, at: .list([low, high]), [place.element(at: high), place.element(at: low)]))
  }

  /// Exchanges two elements as Apple's `exchangeObject(at:withObjectAt:)` does, as two replacements.
  public func exchange(_ first: Int, _ second: Int) {
    guard permits(first..<first + 1), permits(second..<second + 1) else { return }
    let (moved, other) = (place.element(at: first), place.element(at: second))
    guard change(ListEdit(replacing: first..<first + 1, with: [other])) != nil else { return }
    change(ListEdit(replacing: second..<second + 1, with: [moved]))
  }

  /// Sorts the elements by a predicate. The sort is stable.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    try rearrange { order, elements in
      try order.sort { try areInIncreasingOrder(elements[$0], elements[$1]) }
    }
  }

  /// Sorts the elements by a comparator.
  public func sort<Comparator: SortComparator>(using comparator: Comparator) where Comparator.Compared == Element {
    sort { comparator.compare($0, $1) == .orderedAscending }
  }

  /// Reverses the order of the elements.
  public func reverse() { rearrange { order, _ in order.reverse() } }

  /// Shuffles the elements.
  public func shuffle() {
    var generator = SystemRandomNumberGenerator()
    shuffle(using: &generator)
  }

  /// Shuffles the elements with a random number generator.
  public func shuffle(using generator: inout some RandomNumberGenerator) {
    rearrange { order, _ in order.shuffle(using: &generator) }
  }

  /// Moves the elements that satisfy a predicate after all others.
  ///
  /// - Returns: The index of the first of them.
  @discardableResult
  public func partition(by belongsInSecondPartition: (Element) throws -> Bool) rethrows -> Int {
    var pivot = 0
    try rearrange { order, elements in
      pivot = try order.partition { try belongsInSecondPartition(elements[$0]) }
    }
    return pivot
  }

  /// Moves the elements in several ranges before an index.
  ///
  /// - Returns: Their new indexes.
  @discardableResult
  public func moveSubranges(_ ranges: RangeSet<Int>, to position: Int) -> Range<Int> {
    guard let bounds = ranges.ranges.first.map({ $0.lowerBound..<ranges.ranges.last!.upperBound }) else {
      return position..<position
    }
    guard permits(bounds), permits(position..<position) else { return position..<position }
    var moved = position..<position
    rearrange { order, _ in moved = order.moveSubranges(ranges, to: position) }
    return moved
  }

  /// Moves the elements at the given indexes before an index.
  public func move(fromOffsets positions: IndexSet, toOffset position: Int) {
    moveSubranges(RangeSet(positions.rangeView.map { $0.lowerBound..<$0.upperBound }), to: position)
  }

  /// Reorders the elements.
  ///
  /// - Parameter arrange: A function that reorders the present indexes, which are passed in ascending order.
  private func rearrange(_ arrange: (inout [Int], [Element]) throws -> Void) rethrows {
    let elements = place.elements
    var order = Array(elements.indices)
    try arrange(&order, elements)
    let moved = order.indices.filter { order[$0] != $0 && !isSame(elements[order[$0]], elements[$0]) }
    changeUnlessEmpty(ListEdit(.replacement, at: .list(moved), moved.map { elements[order[$0]] }))
  }

  /// Returns whether an element need not be replaced by the other one. Objects must be identical, not only equal.
  private func isSame(_ first: Element, _ second: Element) -> Bool {
    if type(of: first as Any) is AnyClass { return (first as AnyObject) === (second as AnyObject) }
    return equality(first, second) ?? false
  }
}

extension KeyValueMutableArray where Element: Comparable {
  /// Sorts the elements in ascending order.
  public func sort() { sort(by: <) }
}
