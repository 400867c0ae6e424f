// Key-value coding of collection proxies, which is that of their present elements.

extension KeyValueMutableArray: KeyValueCodedCollection {
  public var _codedElements: [Any] { place.elements._codedElements }
  public var _codedObjects: [any KeyValueObservable]? { place.elements._codedObjects }
  public var _codedCount: Int { count }
}

extension KeyValueMutableSet: KeyValueCodedCollection {
  public var _codedElements: [Any] { place.members._codedElements }
  public var _codedObjects: [any KeyValueObservable]? { place.members._codedObjects }
  public var _codedCount: Int { count }
  public var _isCodedSet: Bool { true }
}

extension KeyValueMutableOrderedSet: KeyValueCodedCollection {
  public var _codedElements: [Any] { list._codedElements }
  public var _codedObjects: [any KeyValueObservable]? { list._codedObjects }
  public var _codedCount: Int { count }
}
