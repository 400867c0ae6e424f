// Creation of collection proxies: by key, by string key path and by typed key path.

import CKVO
public import Foundation

extension KeyValueObservable {
  /// Returns a proxy of an array property, whose mutations notify.
  ///
  /// ```swift
  /// let pages = document.mutableArrayValue(forKey: "pages", of: String.self)
  /// pages.append("Preface")  // notifies once, with the kind .insertion and the index
  /// ```
  ///
  /// - Parameters:
  ///   - key: A property of type `[E]`, `[E]?` or `ContiguousArray<E>`, or a key that is no property and that `value(forKey:)`
  ///     provides, as an entry of a ``KeyValueDictionary``. The value of such a key is set as a whole, with
  ///     `setValue(_:forKey:)`, which tells a setting. A key that the object does not have is fault KVO0009; another type is
  ///     KVO0026. The proxy is then empty and has no effect.
  ///   - type: The type of the elements: their own type, or one that they can be cast to.
  public nonisolated func mutableArrayValue<Element>(
    forKey key: String, of type: Element.Type = Any.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<Element> {
    KeyValueMutableArray(list(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns a proxy of the array property at the end of a key path such as `"owner.items"`.
  ///
  /// As on Apple's platforms, the object with the array is looked up now, and the proxy keeps referring to it. If an object on the
  /// path is `nil`, the proxy is empty and has no effect. See ``mutableArrayValue(forKey:of:fileID:line:)``.
  public nonisolated func mutableArrayValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = Any.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableArray(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns a proxy of the array property at the end of a typed key path such as `\.items` or `\.owner?.items`.
  ///
  /// See ``mutableArrayValue(forKeyPath:of:fileID:line:)``. A key path that does not consist of properties is fault KVO0009.
  public nonisolated func mutableArrayValue<List: _KeyValueList>(
    for keyPath: KeyPath<Self, List>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableArray<List._Item> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableArray(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns a proxy of a set property, whose mutations notify.
  ///
  /// ```swift
  /// let tags = document.mutableSetValue(forKey: "tags", of: String.self)
  /// tags.insert("draft")  // notifies once, with the kind .insertion and the member
  /// ```
  ///
  /// - Parameters:
  ///   - key: A property of type `Set<E>` or `Set<E>?`. The faults are those of ``mutableArrayValue(forKey:of:fileID:line:)``.
  ///   - type: The type of the members: their own type, or one that they can be cast to.
  public nonisolated func mutableSetValue<Element>(
    forKey key: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableSet<Element> {
    KeyValueMutableSet(place: set(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns a proxy of the set property at the end of a key path. See ``mutableArrayValue(forKeyPath:of:fileID:line:)``.
  public nonisolated func mutableSetValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableSet(place: end.map { $0.object.set(forKey: $0.key, site) } ?? SetPlace())
  }

  /// Returns a proxy of the set property at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableSetValue<Members: _KeyValueSet>(
    for keyPath: KeyPath<Self, Members>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableSet<Members._Item> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableSet(place: end.map { $0.object.set(forKey: $0.key, site) } ?? SetPlace())
  }

  /// Returns a proxy of an ordered set property, whose mutations notify.
  ///
  /// - Parameters:
  ///   - key: A property of type `NSOrderedSet` or `NSMutableOrderedSet`, an array with distinct elements, or an optional of these.
  ///     The faults are those of ``mutableArrayValue(forKey:of:fileID:line:)``.
  ///   - type: The type of the elements: their own type, or one that they can be cast to.
  public nonisolated func mutableOrderedSetValue<Element>(
    forKey key: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    KeyValueMutableOrderedSet(list(forKey: key, SourceLocation(file: fileID, line: line)))
  }

  /// Returns a proxy of the ordered set property at the end of a key path. See ``mutableArrayValue(forKeyPath:of:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Element>(
    forKeyPath keyPath: String, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(ofPath: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns a proxy of the ordered set property at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<List: _KeyValueList>(
    for keyPath: KeyPath<Self, List>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueMutableOrderedSet<List._Item> where List._Item: Hashable {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns a proxy of the `NSOrderedSet` property at the end of a typed key path. See ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Value: NSOrderedSet, Element>(
    for keyPath: KeyPath<Self, Value>, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }

  /// Returns a proxy of the optional `NSOrderedSet` property at the end of a typed key path. See
  /// ``mutableArrayValue(for:fileID:line:)``.
  public nonisolated func mutableOrderedSetValue<Value: NSOrderedSet, Element>(
    for keyPath: KeyPath<Self, Value?>, of type: Element.Type = AnyHashable.self, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> KeyValueMutableOrderedSet<Element> {
    let site = SourceLocation(file: fileID, line: line)
    let end = end(of: keyPath, site)
    return KeyValueMutableOrderedSet(end.map { $0.object.list(forKey: $0.key, site) } ?? ListPlace())
  }
}
