// Key-value coding of plain collections.

import Foundation

extension Dictionary where Key == String {
  /// Returns the value of a key, `nil` if it has none; `"@count"` is the number of entries.
  ///
  /// Any other key that begins with `@` is fault KVO0009, as on Apple's platforms. Optionals are taken off.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// Returns the value at the end of a key path, as ``KeyValueObservable/value(forKeyPath:)`` does.
  ///
  /// A key that contains dots comes before a path, as on Apple's platforms.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(
      of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key; `nil` removes it.
  ///
  /// A value that is not, and cannot become, one of the dictionary's type is fault KVO0026, and nothing is changed.
  public mutating func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let changed = KeyPathWalk.coding([key], site) { (walk) throws(KeyPathError) in
      try walk.set(value, of: self, at: [key])
    }
    if let changed = changed as? [String: Value] { self = changed }
  }

  /// Sets the value at the end of a key path; does nothing when there is none on the way.
  public mutating func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let (path, site) = (components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
    let changed = KeyPathWalk.coding(path, site) { (walk) throws(KeyPathError) in
      try walk.set(value, of: self, at: path[...])
    }
    if let changed = changed as? [String: Value] { self = changed }
  }
}

extension Array {
  /// Returns the array of the elements' values of a key, with `NSNull` for nil; `"@count"` is the number of elements.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// Returns the value at the end of a key path, which may have collection operators: see
  /// ``KeyValueObservable/value(forKeyPath:)``.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(
      of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key of every element. The elements are objects: those that are values are not changed, and are fault
  /// KVO0009.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// Sets the value at the end of a key path of every element.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }
}

extension ContiguousArray {
  /// See `Array.value(forKey:)`.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// See `Array.value(forKeyPath:)`.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(
      of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }
}

extension Set {
  /// Returns the set of the elements' values of a key, a `Set<AnyHashable>`, without nil; `"@count"` is the number of elements.
  ///
  /// A value that is not `Hashable` is fault KVO0026.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// Returns the value at the end of a key path, which may have collection operators; of the unions a set has the distinct ones
  /// only, as on Apple's platforms.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    KeyPathWalk.codedValue(
      of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }

  /// Sets the value of a key of every element, which are objects.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: [key], SourceLocation(file: fileID, line: line))
  }

  /// Sets the value at the end of a key path of every element.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    setCoded(value, of: self, at: components(ofCodedPath: keyPath), SourceLocation(file: fileID, line: line))
  }
}

/// Sets on every element of a collection that nobody can put a changed copy back into.
private func setCoded(
  _ value: Any?, of collection: any CodedCollection, at path: [String], _ site: SourceLocation
) {
  KeyPathWalk.coding(path, site) { (walk) throws(KeyPathError) in
    for element in collection.codedElements.compactMap(unwrapped) {
      guard try walk.set(value, of: element, at: path[...]) == nil else {
        throw .undefinedKey(of: element, key: path[0], .set)
      }
    }
    return nil
  }
}
