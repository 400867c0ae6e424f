// Making handles of collections: by key, by key path as a string, by typed key path.

import CKVO
public import Foundation

extension KeyValueObservable {
  /// Returns the array of a key as a mutable collection whose mutations are told.
  ///
  /// - Parameters:
  ///   - key: A property of type `[E]`, `[E]?` or `ContiguousArray<E>`. A key that the class does not have, or one of a C object, is fault
  ///     KVO0009; another type is KVO0026. What is returned then is empty, and does nothing.
  ///   - type: As what the elements are seen: their own type, or one that they can be cast to.
  public nonisolated func mutableArrayValue<Element>(
    forKey key: String, of type: Element.Type = Any.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<Element> {
    KeyValueMutableArray(list(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns the array at the end of a key path, such as `"owner.items"`.
  ///
  /// The object that has the array is looked up now, as on Apple's platforms: the handle stays with it. When an object on the way is
  /// `nil`, the handle is empty and does nothing. See ``mutableArrayValue(forKey:of:fileID:line:)``.
  public nonisolated func mutableArrayValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = Any.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableArray(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns the array at the end of a typed key path, such as `\.items` or `\.owner?.items`.
  ///
  /// See ``mutableArrayValue(forKeyPath:of:fileID:line:)``. A key path that is not one of properties is fault KVO0009.
  public nonisolated func mutableArrayValue<List: _KeyValueList>(
    for keyPath: KeyPath<Self, List>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<List._Item> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableArray(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns the set of a key as a mutable collection whose mutations are told.
  ///
  /// - Parameters:
  ///   - key: A property of type `Set<E>` or `Set<E>?`. Faults as of ``mutableArrayValue(forKey:of:fileID:line:)``.
  ///   - type: As what the members are seen: their own type, or one that they can be cast to.
  public nonisolated func mutableSetValue<Element>(
    forKey key: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableSet<Element> {
    KeyValueMutableSet(place: set(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns the set at the end of a key path. See ``mutableArrayValue(forKeyPath:of:fileID:line:)``.
  public nonisolated func mutableSetValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableSet(place: end.map { $0.object.set(forKey: $0.key, site) } ?? SetPlace())
  }

  /// Returns the set at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableSetValue<Members: _KeyValueSet>(
    for keyPath: KeyPath<Self, Members>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableSet<Members._Item> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableSet(place: end.map { $0.object.set(forKey: $0.key, site) } ?? SetPlace())
  }

  /// Returns the ordered set of a key as a mutable collection whose mutations are told.
  ///
  /// - Parameters:
  ///   - key: A property of type `NSOrderedSet` or `NSMutableOrderedSet`, or an array whose elements are all different; optional ones
  ///     too. Faults as of ``mutableArrayValue(forKey:of:fileID:line:)``.
  ///   - type: As what the elements are seen: their own type, or one that they can be cast to.
  public nonisolated func mutableOrderedSetValue<Element>(
    forKey key: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    KeyValueMutableOrderedSet(list(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns the ordered set at the end of a key path. See ``mutableArrayValue(forKeyPath:of:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns the ordered set at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<List: _KeyValueList>(
    for keyPath: KeyPath<Self, List>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableOrderedSet<List._Item> where List._Item: Hashable {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns Foundation's ordered set at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Value: NSOrderedSet, Element>(
    for keyPath: KeyPath<Self, Value>, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns Foundation's ordered set at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Value: NSOrderedSet, Element>(
    for keyPath: KeyPath<Self, Value?>, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }
}
