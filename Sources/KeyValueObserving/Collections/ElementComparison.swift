// Where two arrays begin and end alike: by the bytes of their elements first, for those that have the same bytes are the same.

import Foundation

/// How elements of a type are compared: by `Equatable`, those that are not, by identity.
///
/// Most elements of a collection that has changed are copies of the former ones, byte for byte. Only where bytes differ is `==` asked.
final class ElementComparison<Item> {
  /// Whether all values of the type can be compared, so that bytes may decide.
  private let isComparable = Item.self is any Equatable.Type || Item.self is AnyObject.Type
  private let equating: ((Item, Item) -> Bool)?
  /// Of elements whose type does not say it: a type whose values can be compared.
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

  /// `nil` when they cannot be compared.
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

  /// How many elements are the same at the beginning, and of the others at the end; `nil` when they cannot be compared.
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

  /// How many of so many pairs are the same before the first that are not; `nil` when that cannot be told.
  ///
  /// - Parameters:
  ///   - sameBytes: How many pairs behind so many have the same bytes.
  ///   - pair: The pair behind so many.
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

/// Elements side by side, of which only the bytes are looked at.
private struct Rows {
  private let first: UnsafeRawPointer?
  private let second: UnsafeRawPointer?
  private let stride: Int
  private let end: Int

  init<Item>(_ first: UnsafePointer<Item>?, _ second: UnsafePointer<Item>?, count: Int) {
    // What has no size has no bytes that count.
    self.first = MemoryLayout<Item>.size == 0 ? nil : UnsafeRawPointer(first)
    self.second = UnsafeRawPointer(second)
    stride = MemoryLayout<Item>.stride
    end = count * stride
  }

  /// How many elements in a row have the same bytes, from a position on.
  func sameBytes(after position: Int) -> Int {
    guard let first, let second else { return 0 }
    let start = position * stride
    var at = start
    for size in [4096, 64, 1] {
      while at + size <= end, memcmp(first + at, second + at, size) == 0 { at += size }
    }
    return (at - start) / stride
  }

  /// The same backwards from a position.
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
