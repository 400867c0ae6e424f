// Conversion of values to a property's type, if no information is lost.

import Foundation

/// The error for a value that is not of the expected type and cannot be converted to it.
struct ConversionFailure: Error, @unchecked Sendable {
  /// The value, or `nil` for a nil value.
  let given: Any?
  let expected: Any.Type
  /// What is wrong with the value if its type can be converted, such as its range.
  var reason: String?
}

/// Converts a value to a type, as key-value coding does when it sets a property.
///
/// A value of that type is returned unchanged. Numbers and numeric strings are converted to a numeric type that can represent them,
/// raw values to the enum or option set, and arrays, sets and dictionaries element by element. `NSNull` is converted to `nil` if
/// the type is an optional that cannot hold an `NSNull`.
func converted<Value>(_ value: Any?, to type: Value.Type) throws(ConversionFailure) -> Value {
  guard let value = value.flatMap(unwrapped) else {
    guard let optional = type as? any OptionalProtocol.Type else {
      throw ConversionFailure(given: nil, expected: type)
    }
    return optional.noValue as! Value
  }
  if let optional = type as? any OptionalProtocol.Type {
    if value is NSNull, !isNullable(optional.wrappedType) { return optional.noValue as! Value }
    return try optional.wrapping(value) as! Value
  }
  if let same = value as? Value { return same }
  if isNumberType(type) { return try numberConverted(value, to: type) }
  if let raw = type as? any RawRepresentable.Type { return try rawConverted(value, to: raw) as! Value }
  if let collection = type as? any ElementwiseConvertible.Type { return try collection.converting(value) as! Value }
  throw ConversionFailure(given: value, expected: type)
}

/// Returns whether `NSNull` is a value of the type, as it is of `Any`.
private func isNullable(_ type: Any.Type) -> Bool {
  func open<Wrapped>(_: Wrapped.Type) -> Bool { NSNull() is Wrapped }
  return _openExistential(type, do: open)
}

private func rawConverted<Value: RawRepresentable>(
  _ value: Any, to type: Value.Type
) throws(ConversionFailure) -> Value {
  let raw: Value.RawValue
  do { raw = try converted(value, to: Value.RawValue.self) } catch {
    throw ConversionFailure(given: value, expected: type, reason: error.reason)
  }
  guard let made = Value(rawValue: raw) else {
    throw ConversionFailure(given: value, expected: type, reason: "no value has this raw value")
  }
  return made
}

/// Does the opposite for a value, as far as it is made of raw values: enums and option sets are replaced by these, and sets by arrays.
func rawValue(of value: Any) -> Any {
  guard let value = unwrapped(value) else { return NSNull() }
  switch value {
  case let value as any RawRepresentable: return rawValue(of: value.rawValue)
  case let values as [Any]: return values.map(rawValue)
  case let values as Set<AnyHashable>: return values.map { rawValue(of: $0.base) }
  case let values as [AnyHashable: Any]:
    let pairs = values.map { (rawValue(of: $0.base) as? AnyHashable ?? $0, rawValue(of: $1)) }
    let raw = Dictionary(pairs) { first, _ in first }
    return raw as? [String: Any] ?? raw
  default: return value
  }
}

/// A collection type whose elements are converted one by one.
private protocol ElementwiseConvertible {
  static func converting(_ value: Any) throws(ConversionFailure) -> Self
}

/// Converts an element of a collection, or the key or value of an entry. If it is nil, the collection is what cannot be converted: a
/// failure for a nil value would mean that the collection is nil.
private func converted<Element, Whole>(
  _ element: Any, to type: Element.Type, of collection: Any, to whole: Whole.Type
) throws(ConversionFailure) -> Element {
  do { return try converted(element, to: type) } catch {
    guard error.given == nil else { throw error }
    throw ConversionFailure(given: collection, expected: whole, reason: "it contains nil")
  }
}

extension Array: ElementwiseConvertible {
  static func converting(_ value: Any) throws(ConversionFailure) -> [Element] {
    guard let collection = value as? any KeyValueCodedCollection, !collection._isCodedSet else {
      throw ConversionFailure(given: value, expected: Self.self)
    }
    var elements: [Element] = []
    for element in collection._codedElements {
      elements.append(try converted(element, to: Element.self, of: value, to: Self.self))
    }
    return elements
  }
}

extension ContiguousArray: ElementwiseConvertible {
  static func converting(_ value: Any) throws(ConversionFailure) -> ContiguousArray<Element> {
    guard let collection = value as? any KeyValueCodedCollection, !collection._isCodedSet else {
      throw ConversionFailure(given: value, expected: Self.self)
    }
    var elements: ContiguousArray<Element> = []
    for element in collection._codedElements {
      elements.append(try converted(element, to: Element.self, of: value, to: Self.self))
    }
    return elements
  }
}

extension Set: ElementwiseConvertible {
  static func converting(_ value: Any) throws(ConversionFailure) -> Set<Element> {
    // Converting an array would lose the order and the duplicates.
    guard let collection = value as? any KeyValueCodedCollection, collection._isCodedSet else {
      throw ConversionFailure(given: value, expected: Self.self)
    }
    var elements: Set<Element> = []
    for element in collection._codedElements {
      elements.insert(try converted(element, to: Element.self, of: value, to: Self.self))
    }
    return elements
  }
}

extension Dictionary: ElementwiseConvertible {
  static func converting(_ value: Any) throws(ConversionFailure) -> [Key: Value] {
    guard let dictionary = value as? any CodedDictionary else {
      throw ConversionFailure(given: value, expected: Self.self)
    }
    var entries: [Key: Value] = [:]
    for (key, value) in dictionary.codedEntries {
      let key = try converted(key, to: Key.self, of: dictionary, to: Self.self)
      let value = try converted(value, to: Value.self, of: dictionary, to: Self.self)
      guard entries.updateValue(value, forKey: key) == nil else {
        throw ConversionFailure(given: dictionary, expected: Self.self, reason: "two keys become the same")
      }
    }
    return entries
  }
}
