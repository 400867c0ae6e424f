// One change of the elements of a list: its kind, its indexes and its elements.

import Foundation

/// Distinct indexes in ascending order.
enum Positions: RandomAccessCollection {
  case range(Range<Int>)
  case list([Int])

  init(_ indexes: IndexSet) {
    if let first = indexes.first, let last = indexes.last, last - first + 1 == indexes.count {
      self = .range(first..<last + 1)
    } else {
      self = .list(Array(indexes))
    }
  }

  var count: Int {
    switch self {
    case .range(let range): range.count
    case .list(let list): list.count
    }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Int {
    switch self {
    case .range(let range): range.lowerBound + index
    case .list(let list): list[index]
    }
  }

  /// Calls `body` with a pointer to the indexes for the runtime, which is valid until `body` returns.
  func withPointer<Result>(_ body: (UnsafePointer<Int>?) -> Result) -> Result {
    switch self {
    case .range(let range) where range.count == 1: withUnsafePointer(to: range.lowerBound) { body($0) }
    case .range(let range): Array(range).withUnsafeBufferPointer { body($0.baseAddress) }
    case .list(let list): list.withUnsafeBufferPointer { body($0.baseAddress) }
    }
  }
}

/// One insertion, removal or replacement.
struct ListEdit<Element> {
  /// The kind of the edit; never `.setting`.
  let kind: NSKeyValueChange
  /// The indexes: after the edit for an insertion, before it otherwise.
  let positions: Positions
  /// The inserted or replacing elements, in the order of the indexes; empty for a removal.
  let elements: [Element]

  init(_ kind: NSKeyValueChange, at positions: Positions, _ elements: [Element] = []) {
    self.kind = kind
    self.positions = positions
    self.elements = elements
  }

  init(inserting elements: [Element], at position: Int) {
    self.init(.insertion, at: .range(position..<position + elements.count), elements)
  }

  init(removing range: Range<Int>) { self.init(.removal, at: .range(range)) }

  init(replacing range: Range<Int>, with elements: [Element]) { self.init(.replacement, at: .range(range), elements) }

  /// Returns the first index that is out of range for a list with the given number of elements, if there is one.
  func positionOutside(count: Int) -> Int? {
    let grows = kind == .insertion ? 1 : 0
    switch positions {
    case .range(let range):
      // An insertion of any length may begin at the end index.
      if range.lowerBound < 0 || range.lowerBound > count { return range.lowerBound }
      return kind == .insertion || range.upperBound <= count ? nil : Swift.max(range.lowerBound, count)
    case .list(let list):
      for (before, position) in list.enumerated()
      where position < 0 || position >= count + (before + 1) * grows { return position }
      return nil
    }
  }

  func map<Result>(_ convert: ([Element]) -> [Result]?) -> ListEdit<Result>? {
    convert(elements).map { ListEdit<Result>(kind, at: positions, $0) }
  }
}

extension RangeReplaceableCollection where Self: MutableCollection & RandomAccessCollection, Index == Int {
  func picked(_ positions: Positions) -> Self {
    switch positions {
    case .range(let range): range == startIndex..<endIndex ? self : Self(self[range])
    case .list(let list): Self(list.lazy.map { self[$0] })
    }
  }

  /// Changes the elements in place. The indexes must be valid.
  mutating func apply(_ edit: ListEdit<Element>) {
    switch (edit.kind, edit.positions) {
    case (.insertion, .range(let range)):
      if range.lowerBound == endIndex {
        append(contentsOf: edit.elements)
      } else {
        insert(contentsOf: edit.elements, at: range.lowerBound)
      }
    case (.insertion, .list(let list)): merge(edit.elements, at: list)
    case (.removal, .range(let range)): removeSubrange(range)
    case (.removal, .list(let list)): removeAll(at: list)
    default: for (position, element) in zip(edit.positions, edit.elements) { self[position] = element }
    }
  }

  private mutating func merge(_ elements: [Element], at positions: [Int]) {
    var merged = Self()
    merged.reserveCapacity(count + elements.count)
    var taken = 0
    for (element, position) in zip(elements, positions) {
      let next = taken + position - merged.count
      merged.append(contentsOf: self[taken..<next])
      merged.append(element)
      taken = next
    }
    merged.append(contentsOf: self[taken...])
    self = merged
  }

  private mutating func removeAll(at positions: [Int]) {
    guard var kept = positions.first else { return }
    var removed = positions[...]
    for position in kept..<endIndex {
      if position == removed.first {
        removed.removeFirst()
      } else {
        self[kept] = self[position]
        kept += 1
      }
    }
    removeSubrange(kept...)
  }
}
