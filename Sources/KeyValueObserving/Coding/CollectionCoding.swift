// Key-value coding of plain collections.

import Foundation

extension Dictionary where Key == String {
  /// Returns the value of a key, or `nil` if there is none; `"@count"` returns the number of entries.
  ///
  /// Any other key that begins with `@` is fault KVO0009, as on Apple's platforms. The value is returned without its optionals.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Returns the value for a key path, as ``KeyValueObservable/value(forKeyPath:fileID:line:)`` does.
  ///
  /// As on Apple's platforms, an entry whose key contains dots has precedence over the path.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key; `nil` removes the entry.
  ///
  /// A value that is not of the dictionary's value type and cannot be converted to it is fault KVO0026, and nothing is changed.
  public mutating func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let changed = KeyPathWalk.setCodedValue(value, of: self, at: .key(key), site)
    if let changed = changed as? [String: Value] { self = changed }
  }

  /// Sets the value for a key path; does nothing if a value on the path is `nil`.
  public mutating func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let changed = KeyPathWalk.setCodedValue(value, of: self, at: .path(keyPath), site)
    if let changed = changed as? [String: Value] { self = changed }
  }
}

extension Array {
  /// Returns an array of the elements' values for a key, with `NSNull` for `nil`; `"@count"` returns the number of elements.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Returns the value for a key path, which may contain collection operators: see ``KeyValueObservable/value(forKeyPath:fileID:line:)``.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key of every element.
  ///
  /// The elements have to be objects: elements that are values are not changed, and are fault KVO0009.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value for a key path of every element.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }
}

extension ContiguousArray {
  /// See `Array.value(forKey:)`.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// See `Array.value(forKeyPath:)`.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }
}

extension Set {
  /// Returns a set of the elements' values for a key, a `Set<AnyHashable>` without `nil`; `"@count"` returns the number of
  /// elements.
  ///
  /// A value that is not `Hashable` is fault KVO0026.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Returns the value for a key path, which may contain collection operators. As on Apple's platforms, a set supports only the
  /// distinct union operators.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key of every element. The elements have to be objects.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value for a key path of every element.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: .path(keyPath), SourceLocation(file: fileID, line: line))
  }
}

/// Sets a value of every element, for a collection that is not mutable here.
private func setCoded(
  _ value: Any?, of collection: any CodedCollection, at path: CodedPath, _ site: SourceLocation
) {
  KeyPathWalk.coding(path, site) { (walk) throws(KeyPathError) in
    for element in collection.codedElements.compactMap(unwrapped) {
      guard try walk.set(value, of: element, at: path) == nil else {
        throw .undefinedKey(of: element, key: path.first, .set)
      }
    }
    return nil
  }
}
