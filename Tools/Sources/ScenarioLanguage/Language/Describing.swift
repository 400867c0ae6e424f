// The text of values in answers.
import Foundation

/// Returns a value in the notation of the scenario language.
func describe(_ value: Any?) -> String {
  switch value {
  case nil: "nil"
  case is NSNull: "null"
  case let object as any ScenarioObject: "@" + object.scenarioName
  case let string as String: describe(string: string)
  case let number? where type(of: number) is NSNumber.Type: describe(number: number)
  case let bool as Bool: bool ? "true" : "false"
  case let double as Double: describe(double: double)
  case let float as Float: describe(double: Double(float))
  case let range as NSRange: "r:\(range.location):\(range.length)"
  case let ordered as NSOrderedSet: "<" + list(elements(of: ordered)) + ">"
  case let array as [Any]: "[" + list(array) + "]"
  // Sorted by the printed text, because a set has no order.
  case let set as Set<AnyHashable>: "{" + set.map { describe($0.base) }.sorted().joined(separator: " ") + "}"
  case let hashable as AnyHashable where !(hashable.base is AnyHashable): describe(hashable.base)
  case let value?: String(describing: value)
  }
}

private func list(_ elements: [Any]) -> String { elements.map { describe($0) }.joined(separator: " ") }

private func describe(string: String) -> String {
  let escaped = string.map { character in
    escapes.first { $0.value == character }.map { "\\\($0.key)" } ?? String(character)
  }
  return quoted(escaped.joined())
}

/// Describes an NSNumber by its type encoding: a cast to Bool would succeed for other numbers.
private func describe(number: Any) -> String {
  guard let number = number as? NSNumber else { return String(describing: number) }
  if number is NSDecimalNumber { return number.stringValue }
  switch number.objCType.pointee {
  case CChar(UInt8(ascii: "c")), CChar(UInt8(ascii: "B")): return describe(number.boolValue)
  case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return describe(double: number.doubleValue)
  default: return number.stringValue
  }
}

/// Describes a number like C's `%g`, with as many digits as needed and without an empty fraction.
private func describe(double: Double) -> String {
  let text = double.description
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
