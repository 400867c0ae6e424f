// What a Cocoa binding transfers, and the key paths by string that it reads and sets.

import Foundation

/// A value, or the lack of one, on its way between an observed object and a bound property.
enum BoundValue: @unchecked Sendable {
  case value(Any?)
  /// Of the observed object: there is no value, because of the selection.
  case marker(NSBindingSelectionMarker)
  /// Of the bound property: a placeholder for what the observed object has.
  case placeholder(Any?)
  /// To the observed object: a value that validation has made of the entered one.
  case validated(Any?)
  /// Nothing is set: the value was refused, or there was a fault.
  case nothing

  /// Returns whether two values are the same, so that nothing is left to set; `nil` if they cannot be compared.
  static func comparison(_ first: BoundValue, _ second: BoundValue) -> Bool? {
    switch (first, second) {
    case (.marker(let first), .marker(let second)): first === second
    case (.nothing, .nothing): true
    case (.nothing, _), (_, .nothing), (.marker, _), (_, .marker): false
    default: comparison(first.payload, second.payload)
    }
  }

  /// Returns whether two values are known to be the same.
  static func agree(_ first: BoundValue, _ second: BoundValue) -> Bool { comparison(first, second) ?? false }

  /// Whether it is a value to set.
  var isSettable: Bool {
    switch self {
    case .value, .placeholder, .validated: true
    case .marker, .nothing: false
    }
  }

  var payload: Any? {
    switch self {
    case .value(let value), .placeholder(let value), .validated(let value): value
    case .marker, .nothing: nil
    }
  }

  /// Returns whether two values are the same, possibly after the conversion that key-value coding makes when it sets one; `nil` if they
  /// cannot be compared.
  static func comparison(_ first: Any?, _ second: Any?) -> Bool? {
    func present(_ value: Any?) -> Any? { value.flatMap(unwrapped).flatMap { $0 is NSNull ? nil : $0 } }
    switch (present(first), present(second)) {
    case (nil, nil): return true
    case (let first?, let second?):
      let isSame = same(first, second)
      if isSame ?? false { return true }
      // NaN is not equal to itself.
      if equality(first, first) == false, equality(second, second) == false { return true }
      return isConverted(second, first) || isConverted(first, second) ? true : isSame
    default: return false
    }
  }

  /// Returns whether two values are equal, arrays by their elements; `nil` if they cannot be compared and have different bytes.
  private static func same(_ first: Any, _ second: Any) -> Bool? {
    if let known = equality(first, second) { return known }
    func hasBytes<Value>(_ first: Value) -> Bool { (second as? Value).map { haveSameBytes(first, $0) } ?? false }
    if _openExistential(first, do: hasBytes) { return true }
    guard let first = first as? [Any], let second = second as? [Any] else { return nil }
    guard first.count == second.count else { return false }
    var areSame: Bool? = true
    for (first, second) in zip(first, second) {
      let isSame = same(first, second)
      if isSame == false { return false }
      if isSame == nil { areSame = nil }
    }
    return areSame
  }

  /// Returns whether a value becomes another one when it is converted to its type.
  private static func isConverted(_ value: Any, _ result: Any) -> Bool {
    func open<Result>(_ result: Result) -> Bool {
      guard let made = try? converted(value, to: Result.self) else { return false }
      return same(made, result) ?? false
    }
    return _openExistential(result, do: open)
  }
}

/// A key path by string that a binding reads and sets.
final class BoundPath: Sendable {
  let text: String
  let components: [String]
  /// The path to the object that has the value, or to the collection that an operator computes it of.
  private let owner: CodedPath?
  /// Whether a key that does not exist is a fault.
  let raises: Bool

  init(_ text: String, _ components: [String], raises: Bool) {
    self.text = text
    self.components = components
    self.raises = raises
    let head = components[..<(components.firstIndex { $0.first == "@" } ?? components.count - 1)]
    owner = head.isEmpty ? nil : .path(head.joined(separator: "."))
  }

  /// Whether the value is computed by a collection operator, and so cannot be set.
  var isComputed: Bool { components.contains { $0.first == "@" } }

  /// Reads the value. While the runtime records, each key that is read is recorded.
  func read(_ object: some KeyValueObservable) throws(KeyPathError) -> BoundValue {
    do throws(KeyPathError) {
      if let value = try KeyPathWalk.observedValue(of: object, at: text) {
        // Not any value is cast: see `observable(_:)`.
        let marker = type(of: value) is AnyClass ? value as? NSBindingSelectionMarker : nil
        return marker.map { .marker($0) } ?? .value(value)
      }
      // It is that of the last key, or that of an object on the path.
      guard let owner else { return .value(nil) }
      let isSelected = try KeyPathWalk(isObserving: true).value(of: object, at: owner) != nil
      return isSelected ? .value(nil) : .marker(.noSelection)
    } catch {
      if case .undefinedKey = error, !raises { return .marker(.notApplicable) }
      throw error
    }
  }
}

extension KeyValueObservable {
  /// The value at a path. A fault is reported and results in nothing.
  subscript(bound path: BoundPath) -> BoundValue {
    get {
      do { return try path.read(self) } catch {
        raise(error, .coding(nil))
        return .nothing
      }
    }
    set {
      switch newValue {
      case .value(let value), .placeholder(let value), .validated(let value):
        KeyPathWalk.setCodedValue(value, of: self, at: .path(path.text), .unknown)
      case .marker, .nothing: break
      }
    }
  }
}
