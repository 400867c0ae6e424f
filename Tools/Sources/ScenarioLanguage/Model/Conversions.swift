// Conversion of scenario values to the types of the model's properties.
import Foundation

/// Returns the error for a value that a property cannot have.
private func refuse(_ value: Any?, _ key: String, _ type: String) -> ScriptError {
  ScriptError("\(key) takes \(type), not \(describe(value))")
}

func integer(_ value: Any?, _ key: String) throws -> Int {
  switch value {
  case let integer as Int: return integer
  case let bool as Bool: return bool ? 1 : 0
  case let double as Double:
    guard let integer = Int(exactly: double) else { throw refuse(value, key, "an integer") }
    return integer
  default: throw refuse(value, key, "an integer")
  }
}

func double(_ value: Any?, _ key: String) throws -> Double {
  switch value {
  case let double as Double: return double
  case let integer as Int: return Double(integer)
  case let bool as Bool: return bool ? 1 : 0
  default: throw refuse(value, key, "a number")
  }
}

func bool(_ value: Any?, _ key: String) throws -> Bool {
  switch value {
  case let bool as Bool: return bool
  case let integer as Int where integer == 0 || integer == 1: return integer == 1
  default: throw refuse(value, key, "true or false")
  }
}

func range(_ value: Any?, _ key: String) throws -> NSRange {
  guard let range = value as? NSRange else { throw refuse(value, key, "a range such as r:0:1") }
  return range
}

func string(_ value: Any?, _ key: String) throws -> String? {
  guard let value else { return nil }
  guard let string = value as? String else { throw refuse(value, key, "a string or nil") }
  return string
}

func array(_ value: Any?, _ key: String) throws -> [Any] {
  guard let array = value as? [Any] else { throw refuse(value, key, "an array") }
  return array
}

func unorderedSet(_ value: Any?, _ key: String) throws -> Set<AnyHashable> {
  guard let set = value as? Set<AnyHashable> else { throw refuse(value, key, "a set") }
  return set
}

func orderedSet(_ value: Any?, _ key: String) throws -> NSOrderedSet {
  guard let set = value as? NSOrderedSet else { throw refuse(value, key, "an ordered set") }
  return set
}
