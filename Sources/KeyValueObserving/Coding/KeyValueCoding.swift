// Key-value coding of objects: access to values by string keys and key paths.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Returns the value for a key path such as `"author.name"`, or `nil` if a value on the path is `nil`.
  ///
  /// ```swift
  /// let name = book.value(forKeyPath: "author.name") as? String
  /// let total = basket.value(forKeyPath: "items.@sum.price")
  /// ```
  ///
  /// A path may go through objects, dictionaries with `String` keys, arrays and sets. The rest of the path after an array or a set
  /// is evaluated for each element; in an array, `NSNull` replaces `nil`. Collection operators follow the collection:
  /// `"list.@count"`, `"list.@sum.price"`. `@sum` and `@avg` compute with decimals, so that 0.1 + 0.2 is 0.3, and return an
  /// `NSDecimalNumber`, which can be cast to `Int`, `Double` or `Decimal`. `@avg` also counts elements without a value. `@min` and
  /// `@max` return the value of an element. For an empty collection these two and `@avg` return `nil`. All this is as on Apple's
  /// platforms, with one exception: a `nil` within an array's path results in `NSNull` for that element, not in an exception.
  ///
  /// A key that a value does not have is fault KVO0009, an operator that a value does not support KVO0036, and an operand that is
  /// not a number or cannot be compared KVO0026. The result is then `nil`.
  public nonisolated func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value for a key path; does nothing if a value on the path is `nil`, as on Apple's platforms.
  ///
  /// ```swift
  /// book.setValue("Jane", forKeyPath: "author.name")
  /// ```
  ///
  /// After an array or a set, the value is set on every element. A dictionary on the path that is a Swift value is changed and set
  /// again, which notifies the observers of the property that contains it.
  public nonisolated func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    KeyPathWalk.setCodedValue(value, of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Returns the values of keys, with `NSNull` for `nil`.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - asRawValues: Whether enums and option sets are replaced by their raw values, and sets by arrays, also within collections: for
  ///     JSON. ``setValuesForKeys(_:fileID:line:)`` takes raw values back, and no array for a set. An addition of this library.
  public nonisolated func dictionaryWithValues(
    forKeys keys: [String], asRawValues: Bool = false, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [String: Any] {
    let site = SourceLocation(file: fileID, line: line)
    let values = KeyPathWalk.coding(nil, keys: keys, site) { (walk) throws(KeyPathError) in
      var values: [String: Any] = [:]
      for key in keys {
        let value = try walk.value(of: self, at: .key(key)) ?? NSNull()
        values[key] = asRawValues ? rawValue(of: value) : value
      }
      return values
    }
    return values as? [String: Any] ?? [:]
  }

  /// Sets the values of keys, in the order of their names; `NSNull` is `nil`. A fault ends it: the keys before have been set, those after
  /// have not.
  public nonisolated func setValuesForKeys(
    _ keyedValues: [String: Any], fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let entries = keyedValues.sorted { $0.key < $1.key }
    KeyPathWalk.coding(nil, keys: entries.map(\.key), site) { (walk) throws(KeyPathError) in
      for (key, value) in entries {
        _ = try walk.set(value is NSNull ? nil : value, of: self, at: .key(key))
      }
      return nil
    }
  }

  /// Validates a value for a key path with the `validateValue(_:forKey:)` of the object at the end of the path.
  ///
  /// If there is no object, nothing is validated, and every value is valid.
  public nonisolated func validateValue(
    _ value: inout Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) throws {
    let (head, last) = CodedPath.splitting(keyPath)
    let receiver = KeyPathWalk.codedValue(of: self, at: head, SourceLocation(file: fileID, line: line))
    try receiver.flatMap(observable)?.validateValue(&value, forKey: last)
  }
}

extension KeyPathWalk {
  /// Returns the value for a path from any value, or the value itself if there is no path; `nil` after a fault.
  static func codedValue(of receiver: Any, at path: CodedPath?, _ site: SourceLocation) -> Any? {
    guard let path else { return receiver }
    return coding(path, site) { (walk) throws(KeyPathError) in try walk.value(of: receiver, at: path) }
  }

  /// Sets the value for a path; returns what the caller has to store, as `set` does, or `nil` after a fault.
  @discardableResult
  static func setCodedValue(_ value: Any?, of receiver: Any, at path: CodedPath, _ site: SourceLocation) -> Any? {
    coding(path, site) { (walk) throws(KeyPathError) in try walk.set(value, of: receiver, at: path) }
  }

  /// Runs an evaluation of key-value coding. An error is reported as a fault, unless it already was, and results in `nil`.
  ///
  /// - Parameters:
  ///   - path: The keys that will be read or set.
  ///   - keys: The same without a path.
  @discardableResult
  static func coding(
    _ path: CodedPath?, keys: [String] = [], _ site: SourceLocation,
    _ body: (KeyPathWalk) throws(KeyPathError) -> Any?
  ) -> Any? {
    let place = CallLocation(site, path, keys: keys)
    do {
      return try place.isPresent { () throws(KeyPathError) in try body(KeyPathWalk(isObserving: false, place: place)) }
    } catch {
      raise(error, .coding(site))
      return nil
    }
  }
}

extension KeyValueObservable {
  /// Does what `setCodedValue(_:forKey:)` does, but throws the error.
  nonisolated func setCoded(_ value: Any?, forKey key: String) throws(KeyPathError) {
    if let runtimeObject = self as? KeyValueRuntimeObject { return try runtimeObject.setCoded(value, of: key) }
    let cls = KeyValueClass.of(self)
    guard let property = cls.property(named: key), property.isWritable else {
      return setValue(value, forUndefinedKey: key)
    }
    do {
      let store = try property.setter(of: value)
      // If no accessor notifies, key-value coding does.
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
