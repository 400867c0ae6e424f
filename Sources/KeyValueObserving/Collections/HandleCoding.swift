// Key-value coding of collection proxies, which is that of their present elements.

extension KeyValueMutableArray: CodedCollection {
  var codedElements: [Any] { place.elements.map { $0 as Any } }
  var codedObjects: [any KeyValueObservable]? { place.elements.codedObjects }
  var codedCount: Int { count }
  var codedKind: CodedKind { .array }

  /// See `Array.value(forKey:)`.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    place.elements.value(forKey: key, fileID: fileID, line: line)
  }

  /// See `Array.value(forKeyPath:)`.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    place.elements.value(forKeyPath: keyPath, fileID: fileID, line: line)
  }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    place.elements.setValue(value, forKey: key, fileID: fileID, line: line)
  }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    place.elements.setValue(value, forKeyPath: keyPath, fileID: fileID, line: line)
  }
}

extension KeyValueMutableSet: CodedCollection {
  var codedElements: [Any] { place.members.codedElements }
  var codedObjects: [any KeyValueObservable]? { place.members.codedObjects }
  var codedCount: Int { count }
  var codedKind: CodedKind { .set }

  /// See `Set.value(forKey:)`.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    place.members.value(forKey: key, fileID: fileID, line: line)
  }

  /// See `Set.value(forKeyPath:)`.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    place.members.value(forKeyPath: keyPath, fileID: fileID, line: line)
  }

  /// See `Set.setValue(_:forKey:)`.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    place.members.setValue(value, forKey: key, fileID: fileID, line: line)
  }

  /// See `Set.setValue(_:forKeyPath:)`.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    place.members.setValue(value, forKeyPath: keyPath, fileID: fileID, line: line)
  }
}

extension KeyValueMutableOrderedSet: CodedCollection {
  var codedElements: [Any] { list.codedElements }
  var codedObjects: [any KeyValueObservable]? { list.codedObjects }
  var codedCount: Int { count }
  var codedKind: CodedKind { .orderedSet }

  /// See `Array.value(forKey:)`.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    list.value(forKey: key, fileID: fileID, line: line)
  }

  /// See `Array.value(forKeyPath:)`.
  public func value(
    forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    list.value(forKeyPath: keyPath, fileID: fileID, line: line)
  }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(
    _ value: Any?, forKey key: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    list.setValue(value, forKey: key, fileID: fileID, line: line)
  }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(
    _ value: Any?, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    list.setValue(value, forKeyPath: keyPath, fileID: fileID, line: line)
  }
}
