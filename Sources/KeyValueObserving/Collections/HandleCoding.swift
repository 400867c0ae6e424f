// Key-value coding of handles: that of the elements as they are now.

extension KeyValueMutableArray: CodedCollection {
  var codedElements: [Any] { place.elements.map { $0 as Any } }
  var codedCount: Int { count }
  var codedKind: CodedKind { .array }

  /// See `Array.value(forKey:)`.
  public func value(forKey key: String) -> Any? { place.elements.value(forKey: key) }

  /// See `Array.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) -> Any? { place.elements.value(forKeyPath: keyPath) }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(_ value: Any?, forKey key: String) { place.elements.setValue(value, forKey: key) }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    place.elements.setValue(value, forKeyPath: keyPath)
  }
}

extension KeyValueMutableSet: CodedCollection {
  var codedElements: [Any] { place.members.codedElements }
  var codedCount: Int { count }
  var codedKind: CodedKind { .set }

  /// See `Set.value(forKey:)`.
  public func value(forKey key: String) -> Any? { place.members.value(forKey: key) }

  /// See `Set.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) -> Any? { place.members.value(forKeyPath: keyPath) }

  /// See `Set.setValue(_:forKey:)`.
  public func setValue(_ value: Any?, forKey key: String) { place.members.setValue(value, forKey: key) }

  /// See `Set.setValue(_:forKeyPath:)`.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    place.members.setValue(value, forKeyPath: keyPath)
  }
}

extension KeyValueMutableOrderedSet: CodedCollection {
  var codedElements: [Any] { list.codedElements }
  var codedCount: Int { count }
  var codedKind: CodedKind { .orderedSet }

  /// See `Array.value(forKey:)`.
  public func value(forKey key: String) -> Any? { list.value(forKey: key) }

  /// See `Array.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) -> Any? { list.value(forKeyPath: keyPath) }

  /// See `Array.setValue(_:forKey:)`.
  public func setValue(_ value: Any?, forKey key: String) { list.setValue(value, forKey: key) }

  /// See `Array.setValue(_:forKeyPath:)`.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) { list.setValue(value, forKeyPath: keyPath) }
}
