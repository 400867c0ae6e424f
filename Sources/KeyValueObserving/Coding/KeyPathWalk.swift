// The walk along a string key path, over objects, dictionaries and collections: for key-value coding, and for observers.

import CKVO
import Foundation

/// Why a string key path cannot be walked; does not leave the thread that walks.
enum KeyPathError: Error, @unchecked Sendable {
  enum Access {
    case get
    case set
  }

  /// A value has no such key, or none that can be set.
  case undefinedKey(of: Any, key: String, Access)
  /// An observed path goes on behind a collection, without an operator.
  case throughCollection(Any, key: String)
  /// A collection operator, named without its `@`, that the value does not have.
  case badOperator(of: Any, name: String)
  /// An operator met a value that it cannot work with.
  case badOperand(of: Any, name: String, operand: Any, need: String)
  /// What is to be set is not of the right type.
  case unsuitable(of: Any, key: String, ConversionFailure)
  /// Code of the program that was called on the way raised a fault, which ends the walk.
  case reported
}

/// One walk along a string key path.
///
/// Objects read through their getters, and while the runtime records, each key that is read is recorded, so that a path can be
/// observed by walking it.
struct KeyPathWalk {
  /// Whether it is for an observer: its path must not go through a collection without an operator, and an undefined key is its
  /// fault.
  let isObserving: Bool
  /// Of a call of key-value coding that knows its place.
  var place: CallLocation?
  private let faults = kvo_thread_fault_count()

  /// The value at the end of an observed path; declares that it is that of a stored property, if it is.
  static func observedValue(of object: some KeyValueObservable, at path: [String]) throws(KeyPathError) -> Any? {
    try KeyPathWalk(isObserving: true).value(of: object, at: path[...], isWhole: true)
  }

  /// The value at the end of a path from any value; `nil` when there is none on the way.
  ///
  /// - Parameter isWhole: What is read last is the value of the whole path, not of an element on the way.
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
      // As on Apple's platforms, a key that contains dots comes before a path.
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

  /// What the object answers, by its own `value(forKey:)` if its class has one.
  private func value(of object: any KeyValueObservable, forKey key: String) throws(KeyPathError) -> Any? {
    guard isObserving else {
      place?.ask(object)
      let value = object.value(forKey: key)
      try check()
      return value
    }
    // What answers itself may never come to read the key.
    if KeyValueClass.of(object).answersKeysItself { object.recordDependencies(ofKey: key) }
    if object.defines(key) { return object.value(forKey: key) }
    // The class may answer it all the same. If it refuses, that is the registration's fault, told with its place.
    let value = KeyValueFault.withHandler({ _ in .ignore }, in: { object.value(forKey: key) })
    do { try check() } catch { throw .undefinedKey(of: object, key: key, .get) }
    return value
  }

  /// Ends the walk after a fault in code of the program that it called, as an exception would.
  func check() throws(KeyPathError) {
    if kvo_thread_fault_count() != faults { throw .reported }
  }

  // MARK: - Collections

  /// What the elements answer for a path, up to its next operator; then that operator.
  private func elements(of collection: any CodedCollection, at path: ArraySlice<String>) throws(KeyPathError) -> Any? {
    if path.count == 1, path.first == "self" { return collection }
    guard !isObserving else { throw .throughCollection(collection, key: path.joined(separator: ".")) }
    let end = path.firstIndex { $0.first == "@" } ?? path.endIndex
    let values = try self.values(of: collection, at: path[..<end])
    var result: Any = values.map { $0 ?? NSNull() }
    if collection.codedKind == .set { result = try set(of: values.compactMap(\.self), operand: "self", of: collection) }
    return try value(of: result, at: path[end...])
  }

  /// One value for each element, in order.
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

  /// Sets the value at the end of a path; does nothing when there is none on the way.
  ///
  /// - Returns: The changed copy of a receiver that is a value, to be put where it came from; `nil` if there is nothing to put.
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
