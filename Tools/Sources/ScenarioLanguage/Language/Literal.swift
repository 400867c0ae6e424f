// Values as written in a scenario, and the Swift values they stand for.
import Foundation

/// A value of the scenario language, in which object names are not yet resolved.
enum Literal: Equatable {
  case `nil`
  case null
  case integer(Int)
  case double(Double)
  case bool(Bool)
  case string(String)
  case object(String)
  case range(NSRange)
  case array([Literal])
  case set([Literal])
  case orderedSet([Literal])

  /// Returns the Swift value: `[Any]` for an array, `Set<AnyHashable>` for a set, `NSOrderedSet` for an ordered set.
  func value(_ object: (String) throws -> any ScenarioObject) throws -> Any? {
    switch self {
    case .nil: return nil
    case .null: return NSNull()
    case .integer(let integer): return integer
    case .double(let double): return double
    case .bool(let bool): return bool
    case .string(let string): return string
    case .object(let name): return try object(name)
    case .range(let range): return range
    case .array(let elements): return try elements.map { try $0.element(object) }
    case .set(let elements): return Set(try elements.map { try hashable(try $0.element(object)) })
    case .orderedSet(let elements): return uniqued(try elements.map { try $0.element(object) })
    }
  }

  /// Returns the value as an element: collections contain `NSNull` for nil.
  private func element(_ object: (String) throws -> any ScenarioObject) throws -> Any {
    try value(object) ?? NSNull()
  }
}

/// Returns an ordered set without duplicates. With duplicates, `NSOrderedSet(array:)` would have the right count but list them
/// twice.
func uniqued(_ elements: [Any]) -> NSOrderedSet {
  let set = NSMutableOrderedSet()
  for element in elements { set.add(element) }
  return set
}

/// Returns the elements as Swift values: `array` contains Foundation's strings and numbers.
func elements(of set: NSOrderedSet) -> [Any] { (0..<set.count).map { set.object(at: $0) } }

/// Returns a value as an element of a set.
func hashable(_ value: Any) throws -> AnyHashable {
  if let elements = value as? [Any] { return AnyHashable(try elements.map(hashable)) }
  if let value = value as? AnyHashable { return value }
  throw ScriptError("\(describe(value)) cannot be an element of a set")
}
