// How answers show values.
import Foundation

/// A value as the scenario language writes it.
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
  // Sorted by what is printed, for a set has no order.
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

/// A number of Foundation's is told by its class: by a cast it would pass for a truth value.
private func describe(number: Any) -> String {
  guard let number = number as? NSNumber else { return String(describing: number) }
  if number is NSDecimalNumber { return number.stringValue }
  switch number.objCType.pointee {
  case CChar(UInt8(ascii: "c")), CChar(UInt8(ascii: "B")): return describe(number.boolValue)
  case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return describe(double: number.doubleValue)
  default: return number.stringValue
  }
}

/// As C's `%g` writes it, with all digits that the value needs: no fraction where there is none.
private func describe(double: Double) -> String {
  let text = double.description
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
