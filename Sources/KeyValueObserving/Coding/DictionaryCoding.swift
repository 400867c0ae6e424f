// Key-value coding of dictionaries with string keys.

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
