// The collection operators of key paths: @count, @sum, @avg, @min, @max and the unions.

import Foundation

/// An operator that evaluates the rest of the key path for each element.
private enum CollectionOperator: String {
  case sum, avg, min, max, unionOfObjects, distinctUnionOfObjects, unionOfArrays, distinctUnionOfArrays
  case distinctUnionOfSets

  /// The unions that keep duplicates are defined for arrays only.
  func isDefined(for kind: CodedKind) -> Bool {
    switch self {
    case .unionOfObjects, .unionOfArrays: kind != .set
    default: true
    }
  }
}

extension KeyPathWalk {
  /// Evaluates `@name.right` for a dictionary, which has only `@count`; other names that begin with `@` are undefined keys.
  func value(
    of dictionary: any CodedDictionary, applying name: String, right: ArraySlice<String>
  ) throws(KeyPathError) -> Any? {
    guard right.isEmpty else { throw .badOperator(of: dictionary, name: name) }
    guard name == "count" else { throw .undefinedKey(of: dictionary, key: name, .get) }
    return dictionary.codedCount
  }

  /// Evaluates `@name.right` for a collection.
  func value(
    of collection: any CodedCollection, applying name: String, right: ArraySlice<String>
  ) throws(KeyPathError) -> Any? {
    if name == "count" { return collection.codedCount }
    // Without a path to its right, the name is a key, and collections have no other keys.
    guard !right.isEmpty else { throw .undefinedKey(of: collection, key: name, .get) }
    guard let operation = CollectionOperator(rawValue: name), operation.isDefined(for: collection.codedKind) else {
      throw .badOperator(of: collection, name: name)
    }
    switch operation {
    case .sum: return try sum(of: values(of: collection, at: right), "sum", of: collection)
    case .avg:
      guard collection.codedCount > 0 else { return nil }
      let sum = try sum(of: values(of: collection, at: right), "avg", of: collection)
      // As on Apple's platforms, elements without a value are counted.
      return quotient(sum, collection.codedCount)
    case .min: return try extreme(of: operands(of: collection, at: right), "min", of: collection) { $0 }
    case .max: return try extreme(of: operands(of: collection, at: right), "max", of: collection) { !$0 }
    case .unionOfObjects: return try values(of: collection, at: right).compactMap(\.self)
    case .distinctUnionOfObjects:
      return try distinct(values(of: collection, at: right).compactMap(\.self), name, of: collection)
    case .unionOfArrays: return try leaves(of: collection, at: right, name) { $0 != .set }
    case .distinctUnionOfArrays:
      return try distinct(leaves(of: collection, at: right, name) { $0 != .set }, name, of: collection)
    case .distinctUnionOfSets:
      return try set(of: leaves(of: collection, at: right, name) { $0 == .set }, operand: name, of: collection)
    }
  }

  // MARK: - Numbers

  /// Returns a value that is present; `NSNull`, to which `nil` is mapped, is not.
  private func operand(_ value: Any?) -> Any? { value.flatMap { type(of: $0) == NSNull.self ? nil : $0 } }

  private func operands(
    of collection: any CodedCollection, at path: ArraySlice<String>
  ) throws(KeyPathError) -> [Any] {
    try values(of: collection, at: path).compactMap(operand)
  }

  /// Adds decimals, so that 0.1 + 0.2 is 0.3. Values that no decimal can represent are added as binary numbers.
  private func sum(
    of values: [Any?], _ name: String, of collection: any CodedCollection
  ) throws(KeyPathError) -> NSNumber {
    var sum = DecimalSum()
    var isExact = true
    for value in values {
      guard let operand = operand(value) else { continue }
      guard let number = CodedNumber(operand) else {
        throw .badOperand(of: collection, name: name, operand: operand, need: "a number")
      }
      isExact = isExact && sum.add(number)
    }
    let decimal = sum.value
    guard isExact, !decimal.isNaN else {
      return NSNumber(value: values.reduce(0) { $0 + (operand($1).flatMap { CodedNumber($0) }?.double ?? 0) })
    }
    return NSDecimalNumber(decimal: decimal)
  }

  private func quotient(_ sum: NSNumber, _ count: Int) -> NSNumber {
    guard let sum = sum as? NSDecimalNumber else { return NSNumber(value: sum.doubleValue / Double(count)) }
    return NSDecimalNumber(decimal: sum.decimalValue / Decimal(count))
  }

  private func extreme(
    of operands: [Any], _ name: String, of collection: any CodedCollection, takes: (_ isLess: Bool) -> Bool
  ) throws(KeyPathError) -> Any? {
    guard var found = operands.first else { return nil }
    for operand in operands.dropFirst() {
      guard let isLess = isLess(operand, found) else {
        throw .badOperand(
          of: collection, name: name, operand: operand, need: "comparable with \(Swift.type(of: found))")
      }
      if takes(isLess) { found = operand }
    }
    return found
  }

  // MARK: - Unions

  /// Returns the values that the elements, which have to be collections, have for a path, in one array.
  private func leaves(
    of collection: any CodedCollection, at path: ArraySlice<String>, _ name: String, where isRight: (CodedKind) -> Bool
  ) throws(KeyPathError) -> [Any] {
    var leaves: [Any] = []
    for element in collection.codedElements {
      guard let inner = unwrapped(element) as? any CodedCollection, isRight(inner.codedKind) else {
        let need = name.hasSuffix("Sets") ? "a set" : "an array"
        throw .badOperand(of: collection, name: name, operand: element, need: need)
      }
      leaves += try values(of: inner, at: path).compactMap(\.self)
    }
    return leaves
  }

  /// Returns the distinct values: for an array in the order of their first occurrence, for a set as a set.
  private func distinct(
    _ values: [Any], _ name: String, of collection: any CodedCollection
  ) throws(KeyPathError) -> Any {
    guard collection.codedKind != .set else { return try set(of: values, operand: name, of: collection) }
    var seen: Set<AnyHashable> = []
    var distinct: [Any] = []
    for value in values where seen.insert(try identity(of: value, name, of: collection)).inserted {
      distinct.append(value)
    }
    return distinct
  }

  /// Returns the identity of a value for comparison: the value itself if it is `Hashable`, otherwise the object's identity.
  private func identity(
    of value: Any, _ name: String, of collection: any CodedCollection
  ) throws(KeyPathError) -> AnyHashable {
    if let hashable = value as? AnyHashable { return hashable }
    guard Swift.type(of: value) is AnyObject.Type else {
      throw .badOperand(of: collection, name: name, operand: value, need: "Hashable")
    }
    return ObjectIdentifier(value as AnyObject)
  }

  func set(
    of values: [Any], operand name: String, of collection: any CodedCollection
  ) throws(KeyPathError) -> Set<AnyHashable> {
    var set: Set<AnyHashable> = []
    for value in values {
      guard let hashable = value as? AnyHashable else {
        throw .badOperand(of: collection, name: name, operand: value, need: "Hashable, to be in a set")
      }
      set.insert(hashable)
    }
    return set
  }
}

/// Compares two values of the same comparable type, or two numbers of any types; `nil` if they cannot be compared.
private func isLess(_ left: Any, _ right: Any) -> Bool? {
  func compare<Value: Comparable>(_ left: Value) -> Bool? { (right as? Value).map { left < $0 } }
  if Swift.type(of: left) == Swift.type(of: right), let left = left as? any Comparable { return compare(left) }
  switch (left, right) {
  case (let left as String, let right as String): return left < right
  case (let left as Date, let right as Date): return left < right
  default: break
  }
  guard !(left is String), !(right is String), let left = CodedNumber(left), let right = CodedNumber(right) else {
    return nil
  }
  return left < right
}
