// Key-value coding of arrays, sets and dictionaries of any element type.

public import Foundation

/// A collection with the methods of key-value coding: an array, a set, or the mutable view of an object's collection.
///
/// They are those that `NSArray`, `NSSet` and `NSOrderedSet` have on Apple's platforms.
public protocol KeyValueCodedCollection {
  var _codedElements: [Any] { get }
  /// The elements, if the element type is an observable class, so that the elements need not be cast one by one.
  var _codedObjects: [any KeyValueObservable]? { get }
  var _codedCount: Int { get }
  var _isCodedSet: Bool { get }
}

extension KeyValueCodedCollection {
  public var _codedObjects: [any KeyValueObservable]? { nil }
  public var _isCodedSet: Bool { false }
}

extension KeyValueCodedCollection {
  /// Returns the elements' values for a key, with `NSNull` for `nil`; `"@count"` returns the number of elements.
  ///
  /// Of an array it returns an array. Of a set it returns a `Set<AnyHashable>`, which leaves `nil` out; a value that is not `Hashable` is
  /// fault KVO0026.
  public func value(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) -> Any? {
    KeyPathWalk.codedValue(of: self, at: .key(key), SourceLocation(file: fileID, line: line))
  }

  /// Returns the value for a key path, which may contain collection operators: see ``KeyValueObservable/value(forKeyPath:fileID:line:)``.
  ///
  /// As on Apple's platforms, a set supports only the distinct union operators.
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

/// Sets a value of every element, for a collection that is not mutable here.
private func setCoded(
  _ value: Any?, of collection: some KeyValueCodedCollection, at path: CodedPath, _ site: SourceLocation
) {
  KeyPathWalk.coding(path, site) { (walk) throws(KeyPathError) in
    for element in collection._codedElements.compactMap(unwrapped) {
      guard try walk.set(value, of: element, at: path) == nil else {
        throw .undefinedKey(of: element, key: path.first, .set)
      }
    }
    return nil
  }
}

/// Returns the elements as objects if the element type is an observable class.
private func objects<Element>(_ elements: some Collection<Element>) -> [any KeyValueObservable]? {
  func cast<Object: KeyValueObservable>(_: Object.Type) -> [any KeyValueObservable] {
    unsafeBitCast(Array(elements), to: [Object].self).map { $0 }
  }
  guard let type = Element.self as? any KeyValueObservable.Type else { return nil }
  return cast(type)
}

extension Array: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { $0 as Any } }
  public var _codedObjects: [any KeyValueObservable]? { objects(self) }
  public var _codedCount: Int { count }
}
extension ContiguousArray: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { $0 as Any } }
  public var _codedObjects: [any KeyValueObservable]? { objects(self) }
  public var _codedCount: Int { count }
}
extension Set: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { AnyHashable($0).base } }
  public var _codedObjects: [any KeyValueObservable]? { objects(self) }
  public var _codedCount: Int { count }
  public var _isCodedSet: Bool { true }
}
extension NSArray: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { $0 } }
  public var _codedCount: Int { count }
}
extension NSSet: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { $0 } }
  public var _codedCount: Int { count }
  public var _isCodedSet: Bool { true }
}
extension NSOrderedSet: KeyValueCodedCollection {
  public var _codedElements: [Any] { map { $0 } }
  public var _codedCount: Int { count }
}

/// A dictionary whose entries key-value coding reads by key.
protocol CodedDictionary {
  var codedEntries: [(key: Any, value: Any)] { get }
  var codedCount: Int { get }
  func codedValue(forKey key: String) -> Any?
  /// Returns a copy in which the key has the value, or no entry if the value is `nil`; `nil` if the dictionary was changed in
  /// place.
  func codedSetting(_ value: Any?, forKey key: String) throws(KeyPathError) -> Any?
}

extension Dictionary: CodedDictionary {
  var codedEntries: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
  var codedCount: Int { count }

  func codedValue(forKey key: String) -> Any? { (key as? Key).flatMap { self[$0] } }

  func codedSetting(_ value: Any?, forKey key: String) throws(KeyPathError) -> Any? {
    guard let own = key as? Key else { throw .undefinedKey(of: self, key: key, .set) }
    var copy = self
    guard let value = value.flatMap(unwrapped) else {
      copy[own] = nil
      return copy
    }
    do { copy[own] = try converted(value, to: Value.self) } catch {
      throw .unsuitable(of: self, key: key, error)
    }
    return copy
  }
}

extension NSDictionary: CodedDictionary {
  var codedEntries: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
  var codedCount: Int { count }

  func codedValue(forKey key: String) -> Any? { object(forKey: key) }

  func codedSetting(_ value: Any?, forKey key: String) throws(KeyPathError) -> Any? {
    guard let dictionary = self as? NSMutableDictionary else { throw .undefinedKey(of: self, key: key, .set) }
    if let value = value.flatMap(unwrapped) {
      dictionary.setObject(value, forKey: NSString(string: key))
    } else {
      dictionary.removeObject(forKey: NSString(string: key))
    }
    return nil
  }
}
