// The common prefix and suffix of two arrays. Elements with the same bytes are equal, so bytes are compared first.

import Foundation

/// Compares elements of a type: by `Equatable`, or by identity for elements that are not equatable.
///
/// After a change most elements of a collection are bitwise copies of the previous ones. `==` is called only where bytes differ.
final class ElementComparison<Item> {
  /// Whether all values of the type can be compared, so that equal bytes mean equal elements.
  private let isComparable = Item.self is any Equatable.Type || Item.self is AnyObject.Type
  private let equating: ((Item, Item) -> Bool)?
  /// If the element type does not say so, a dynamic type whose values can be compared.
  private var comparableType: Any.Type?

  init() {
    func equating<Value: Equatable>(_: Value.Type) -> (Item, Item) -> Bool {
      let compare: (Value, Value) -> Bool = { $0 == $1 }
      return compare as! (Item, Item) -> Bool
    }
    if let type = Item.self as? any Equatable.Type {
      self.equating = equating(type)
    } else {
      self.equating = nil
    }
  }

  /// Returns whether two elements are equal; `nil` if they cannot be compared.
  func isSame(_ first: Item, _ second: Item) -> Bool? {
    if let equating { return equating(first, second) }
    if isComparable { return unsafeBitCast(first, to: UInt.self) == unsafeBitCast(second, to: UInt.self) }
    let type = Swift.type(of: first as Any)
    if type == comparableType, haveSameBytes(first, second) { return true }
    let isSame = equality(first, second)
    if isSame != nil { comparableType = type }
    return isSame
  }

  private func haveSameBytes(_ first: Item, _ second: Item) -> Bool {
    withUnsafeBytes(of: first) { first in
      withUnsafeBytes(of: second) { memcmp(first.baseAddress!, $0.baseAddress!, first.count) == 0 }
    }
  }

  func areEqual(_ first: [Item], _ second: [Item]) -> Bool {
    first.count == second.count && commonEnds(first, second)?.start == first.count
  }

  /// Returns the number of equal elements at the beginning, and of the remaining ones at the end; `nil` if they cannot be compared.
  func commonEnds(_ first: [Item], _ second: [Item]) -> (start: Int, end: Int)? {
    first.withUnsafeBufferPointer { first in
      second.withUnsafeBufferPointer { second in
        let shorter = min(first.count, second.count)
        let heads = Rows(first.baseAddress, second.baseAddress, count: shorter)
        guard let start = common(shorter, { heads.sameBytes(after: $0) }, { (first[$0], second[$0]) }) else {
          return nil
        }
        let rest = shorter - start
        let tails = Rows(
          first.baseAddress.map { $0 + (first.count - rest) }, second.baseAddress.map { $0 + (second.count - rest) },
          count: rest)
        let end = common(rest, { tails.sameBytes(before: rest - $0) }) {
          (first[first.count - 1 - $0], second[second.count - 1 - $0])
        }
        return end.map { (start, $0) }
      }
    }
  }

  /// Returns the number of leading pairs that are equal; `nil` if they cannot be compared.
  ///
  /// - Parameters:
  ///   - sameBytes: Returns the number of pairs with the same bytes after the given number of pairs.
  ///   - pair: Returns the pair after the given number of pairs.
  private func common(_ count: Int, _ sameBytes: (Int) -> Int, _ pair: (Int) -> (Item, Item)) -> Int? {
    var found = 0
    while found < count {
      if isComparable { found += sameBytes(found) }
      if found == count { break }
      let (first, second) = pair(found)
      guard let isSame = isSame(first, second) else { return nil }
      if !isSame { break }
      found += 1
    }
    return found
  }
}

/// Two buffers of elements that are compared by their bytes.
private struct Rows {
  private let first: UnsafeRawPointer?
  private let second: UnsafeRawPointer?
  private let stride: Int
  private let end: Int

  init<Item>(_ first: UnsafePointer<Item>?, _ second: UnsafePointer<Item>?, count: Int) {
    // Types of size zero have no bytes to compare.
    self.first = MemoryLayout<Item>.size == 0 ? nil : UnsafeRawPointer(first)
    self.second = UnsafeRawPointer(second)
    stride = MemoryLayout<Item>.stride
    end = count * stride
  }

  /// Returns the number of successive elements with the same bytes after a position.
  func sameBytes(after position: Int) -> Int {
    guard let first, let second else { return 0 }
    let start = position * stride
    var at = start
    for size in [4096, 64, 1] {
      while at + size <= end, memcmp(first + at, second + at, size) == 0 { at += size }
    }
    return (at - start) / stride
  }

  /// Returns the number of successive elements with the same bytes before a position.
  func sameBytes(before position: Int) -> Int {
    guard let first, let second else { return 0 }
    let start = position * stride
    var at = start
    for size in [4096, 64, 1] {
      while at >= size, memcmp(first + at - size, second + at - size, size) == 0 { at -= size }
    }
    return (start - at) / stride
  }
}
