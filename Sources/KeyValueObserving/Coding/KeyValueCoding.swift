// Key-value coding of objects: values read and set by keys and key paths that are strings.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Returns the value at the end of a key path such as `"author.name"`; `nil` when there is none on the way.
  ///
  /// A path goes through objects, dictionaries with `String` keys, arrays and sets, whose elements answer the rest of it each,
  /// `NSNull` standing for nil in arrays, and collection operators, each behind its collection: `"list.@count"`,
  /// `"list.@sum.price"`. `@sum` and `@avg` compute in decimals, so that 0.1 + 0.2 is 0.3, and give an `NSDecimalNumber`, which a cast
  /// turns into `Int`, `Double` or `Decimal`; `@avg` counts elements without a value too; `@min` and `@max` give the element's own
  /// value, and `nil` for an empty collection, as `@avg` does. All as on Apple's platforms, but for a nil in the middle of an array's
  /// path, which gives `NSNull` for that element rather than an exception.
  ///
  /// A value that has no such key is fault KVO0009, an operator that a value does not have KVO0036, an operand that is no number or
  /// cannot be compared KVO0026; the walk then ends with `nil`.
  public nonisolated func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(
      of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value at the end of a key path; does nothing when there is none on the way, as on Apple's platforms.
  ///
  /// Behind an array or a set it is set on every element. A dictionary on the way that is a Swift value is changed and set again,
  /// which notifies observers of its own key.
  public nonisolated func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let path = components(ofCodedPath: keyPath)
    KeyPathWalk.coding(path, SourceLocation(file: fileID, line: line)) { (walk) throws(KeyPathError) in
      try walk.set(value, of: self, at: path[...])
    }
  }

  /// Returns the values of keys, with `NSNull` for nil.
  public nonisolated func dictionaryWithValues(
    forKeys keys: [String], fileID: StaticString = #fileID, line: UInt = #line
  ) -> [String: Any] {
    let values = KeyPathWalk.coding(keys, SourceLocation(file: fileID, line: line)) { (walk) throws(KeyPathError) in
      var values: [String: Any] = [:]
      for key in keys { values[key] = try walk.value(of: self, at: [key]) ?? NSNull() }
      return values
    }
    return values as? [String: Any] ?? [:]
  }

  /// Sets the values of keys, in no order; `NSNull` is nil. The first fault ends it.
  public nonisolated func setValuesForKeys(
    _ keyedValues: [String: Any], fileID: StaticString = #fileID, line: UInt = #line
  ) {
    KeyPathWalk.coding(Array(keyedValues.keys), SourceLocation(file: fileID, line: line)) {
      (walk) throws(KeyPathError) in
      for (key, value) in keyedValues {
        _ = try walk.set(value is NSNull ? nil : value, of: self, at: [key])
      }
      return nil
    }
  }

  /// Validates a value for the end of a key path, with that object's `validateValue(_:forKey:)`.
  ///
  /// Where there is no object at the end nothing is validated, and every value is valid.
  public nonisolated func validateValue(
    _ value: inout Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) throws {
    let path = components(ofCodedPath: keyPath)
    let receiver = KeyPathWalk.codedValue(
      of: self, at: Array(path.dropLast()), SourceLocation(file: fileID, line: line))
    try receiver.flatMap(observable)?.validateValue(&value, forKey: path[path.count - 1])
  }
}

extension KeyPathWalk {
  /// What a value answers for a path; `nil` after a fault.
  static func codedValue(of receiver: Any, at path: [String], _ site: SourceLocation) -> Any? {
    coding(path, site) { (walk) throws(KeyPathError) in try walk.value(of: receiver, at: path[...]) }
  }

  /// A walk of key-value coding; what stops it is reported as a fault, if it was not before, and gives `nil`.
  ///
  /// - Parameter keys: What it is going to ask objects for.
  @discardableResult
  static func coding(
    _ keys: [String], _ site: SourceLocation, _ body: (KeyPathWalk) throws(KeyPathError) -> Any?
  ) -> Any? {
    let place = CallLocation(site, keys: keys[...])
    do {
      return try place.isPresent { () throws(KeyPathError) in try body(KeyPathWalk(isObserving: false, place: place)) }
    } catch {
      raise(error, .coding(site))
      return nil
    }
  }
}

extension KeyValueObservable {
  /// What `setCodedValue(_:forKey:)` does, with what is wrong thrown.
  nonisolated func setCoded(_ value: Any?, forKey key: String) throws(KeyPathError) {
    if let runtimeObject = self as? KeyValueRuntimeObject { return try runtimeObject.setCoded(value, of: key) }
    let cls = KeyValueClass.of(self)
    guard let property = cls.property(named: key), property.isWritable else {
      return setValue(value, forUndefinedKey: key)
    }
    do {
      let store = try property.setter(of: value)
      // Where no accessor announces the change, key-value coding does.
      let announces = property.isDirect && !property.isStored && !cls.isManual(property.key)
      if announces { kvo_will_change(__keyValueObject, property.cName) }
      store(self)
      if announces { kvo_did_change(__keyValueObject, property.cName) }
    } catch {
      guard error.given != nil else { return setNilValueForKey(key) }
      throw .unsuitable(of: self, key: key, error)
    }
  }
}
