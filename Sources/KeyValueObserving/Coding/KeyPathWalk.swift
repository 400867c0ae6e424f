// Evaluation of string key paths over objects, dictionaries and collections, for key-value coding and for observation.

import CKVO
import Foundation

/// The reason why a string key path cannot be evaluated. The error stays on the thread that evaluates it.
enum KeyPathError: Error, @unchecked Sendable {
  enum Access {
    case get
    case set
  }

  /// A value has no such key, or none that can be set.
  case undefinedKey(of: Any, key: String, Access)
  /// An observed path continues after a collection without an operator.
  case throughCollection(Any, key: String)
  /// A collection operator, named without `@`, that the value does not support.
  case badOperator(of: Any, name: String)
  /// A value that an operator cannot process.
  case badOperand(of: Any, name: String, operand: Any, need: String)
  /// The value to set does not have the right type.
  case unsuitable(of: Any, key: String, ConversionFailure)
  /// Called code of the program has raised a fault, which ends the evaluation.
  case reported
}

/// One evaluation of a string key path.
///
/// Objects are read through their getters. While the runtime records, each key that is read is recorded, so that evaluating a path
/// is enough to observe it.
struct KeyPathWalk {
  /// Whether the evaluation is for an observer. Its path must not go through a collection without an operator, and an undefined key
  /// is a fault of the registration.
  let isObserving: Bool
  /// The source location of a call of key-value coding, if known.
  var place: CallLocation?
  private let faults = kvo_thread_fault_count()

  /// Returns the value of an observed path, and declares the stored property that it comes from, if it does.
  static func observedValue(of object: some KeyValueObservable, at path: [String]) throws(KeyPathError) -> Any? {
    try KeyPathWalk(isObserving: true).value(of: object, at: path[...], isWhole: true)
  }

  /// Returns the value for a path from any value, or `nil` if a value on the path is `nil`.
  ///
  /// - Parameter isWhole: Whether the last value read is the value of the whole path, not of an element.
  func value(of receiver: Any, at path: ArraySlice<String>, isWhole: Bool = false) throws(KeyPathError) -> Any? {
    guard let key = path.first else { return receiver }
    let rest = path.dropFirst()
    let next: Any?
    if let object = observable(receiver) { return try value(ofObject: object, at: path, isWhole: isWhole) }
    switch receiver {
    case let collection as any CodedCollection:
      if key.first == "@" { return try value(of: collection, applying: String(key.dropFirst()), right: rest) }
      return try elements(of: collection, at: path)
    case let dictionary as any CodedDictionary:
      if key.first == "@" { return try value(of: dictionary, applying: String(key.dropFirst()), right: rest) }
      // As on Apple's platforms, an entry whose key contains dots has precedence over the path.
      if !rest.isEmpty, let whole = dictionary.codedValue(forKey: path.joined(separator: ".")) {
        return unwrapped(whole)
      }
      next = dictionary.codedValue(forKey: key)
    default:
      guard key == "self" else { throw .undefinedKey(of: receiver, key: key, .get) }
      next = receiver
    }
    guard let next = next.flatMap(unwrapped) else { return nil }
    return try value(of: next, at: rest, isWhole: isWhole)
  }

  private func value(
    ofObject object: any KeyValueObservable, at path: ArraySlice<String>, isWhole: Bool
  ) throws(KeyPathError) -> Any? {
    guard let key = path.first else { return object }
    let rest = path.dropFirst()
    if key.first == "@", !rest.isEmpty { throw .badOperator(of: object, name: String(key.dropFirst())) }
    let next = try value(of: object, forKey: key)
    if isWhole, isObserving, rest.isEmpty { object.declareValue(isOf: key) }
    guard let next = next.flatMap(unwrapped) else { return nil }
    return rest.isEmpty ? next : try value(of: next, at: rest, isWhole: isWhole)
  }

  /// Returns the value of the object's `value(forKey:)`, which its class may override.
  private func value(of object: any KeyValueObservable, forKey key: String) throws(KeyPathError) -> Any? {
    guard isObserving else {
      place?.ask(object)
      let value = object.value(forKey: key)
      try check()
      return value
    }
    // An override of `value(forKey:)` may not read the key itself, so its dependencies are recorded here.
    if KeyValueClass.of(object).answersKeysItself { object.recordDependencies(ofKey: key) }
    if object.defines(key) { return object.value(forKey: key) }
    // The class may still provide a value. If not, it is a fault of the registration, which has a source location.
    let value = KeyValueFault.withHandler({ _ in .ignore }, in: { object.value(forKey: key) })
    do { try check() } catch { throw .undefinedKey(of: object, key: key, .get) }
    return value
  }

  /// Ends the evaluation, like an exception would, if called code of the program has raised a fault.
  func check() throws(KeyPathError) {
    if kvo_thread_fault_count() != faults { throw .reported }
  }

  // MARK: - Collections

  /// Returns the elements' values for a path up to its next operator, and applies that operator.
  private func elements(of collection: any CodedCollection, at path: ArraySlice<String>) throws(KeyPathError) -> Any? {
    if path.count == 1, path.first == "self" { return collection }
    guard !isObserving else { throw .throughCollection(collection, key: path.joined(separator: ".")) }
    let end = path.firstIndex { $0.first == "@" } ?? path.endIndex
    let values = try self.values(of: collection, at: path[..<end])
    var result: Any = values.map { $0 ?? NSNull() }
    if collection.codedKind == .set { result = try set(of: values.compactMap(\.self), operand: "self", of: collection) }
    return try value(of: result, at: path[end...])
  }

  /// Returns the value of each element, in order.
  func values(of collection: any CodedCollection, at path: ArraySlice<String>) throws(KeyPathError) -> [Any?] {
    var values: [Any?] = []
    values.reserveCapacity(collection.codedCount)
    if let objects = collection.codedObjects {
      for object in objects { values.append(try value(ofObject: object, at: path, isWhole: false)) }
      return values
    }
    for element in collection.codedElements {
      values.append(
        try unwrapped(element).flatMap { (element) throws(KeyPathError) in try value(of: element, at: path) })
    }
    return values
  }

  // MARK: - Setting

  /// Sets the value for a path; does nothing if a value on the path is `nil`.
  ///
  /// - Returns: If the receiver is a value, its changed copy, which the caller has to store; `nil` if there is nothing to store.
  func set(_ value: Any?, of receiver: Any, at path: ArraySlice<String>) throws(KeyPathError) -> Any? {
    guard let key = path.first else { return value }
    let rest = path.dropFirst()
    if let object = observable(receiver) {
      guard !rest.isEmpty else {
        place?.ask(object)
        object.setValue(value, forKey: key)
        try check()
        return nil
      }
      guard let next = try self.value(of: object, forKey: key).flatMap(unwrapped) else { return nil }
      guard let changed = try set(value, of: next, at: rest) else { return nil }
      return try set(changed, of: object, at: [key])
    }
    switch receiver {
    case let collection as any CodedCollection:
      var elements: [Any] = []
      var isChanged = false
      for element in collection.codedElements {
        let changed = try unwrapped(element).flatMap { (element) throws(KeyPathError) in
          try set(value, of: element, at: path)
        }
        elements.append(changed ?? element)
        isChanged = isChanged || changed != nil
      }
      return isChanged ? elements : nil
    case let dictionary as any CodedDictionary:
      guard !rest.isEmpty else { return try dictionary.codedSetting(value, forKey: key) }
      guard let next = dictionary.codedValue(forKey: key).flatMap(unwrapped) else { return nil }
      guard let changed = try set(value, of: next, at: rest) else { return nil }
      return try dictionary.codedSetting(changed, forKey: key)
    default: throw .undefinedKey(of: receiver, key: key, .set)
    }
  }
}
