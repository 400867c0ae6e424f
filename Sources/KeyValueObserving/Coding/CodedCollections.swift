// Arrays, sets and dictionaries, seen without knowing what they hold.

import Foundation

enum CodedKind {
  case array
  case set
  case orderedSet
}

/// A collection that key-value coding reads by asking its elements.
protocol CodedCollection {
  var codedElements: [Any] { get }
  /// The elements, if their type says that they are objects: then nobody has to ask each.
  var codedObjects: [any KeyValueObservable]? { get }
  var codedCount: Int { get }
  var codedKind: CodedKind { get }
}

extension CodedCollection {
  var codedObjects: [any KeyValueObservable]? { nil }
}

/// Elements as objects, if their type is one of objects.
private func objects<Element>(_ elements: some Collection<Element>) -> [any KeyValueObservable]? {
  func cast<Object: KeyValueObservable>(_: Object.Type) -> [any KeyValueObservable] {
    unsafeBitCast(Array(elements), to: [Object].self).map { $0 }
  }
  guard let type = Element.self as? any KeyValueObservable.Type else { return nil }
  return cast(type)
}

extension Array: CodedCollection {
  var codedElements: [Any] { map { $0 as Any } }
  var codedObjects: [any KeyValueObservable]? { objects(self) }
  var codedCount: Int { count }
  var codedKind: CodedKind { .array }
}
extension ContiguousArray: CodedCollection {
  var codedElements: [Any] { map { $0 as Any } }
  var codedObjects: [any KeyValueObservable]? { objects(self) }
  var codedCount: Int { count }
  var codedKind: CodedKind { .array }
}
extension Set: CodedCollection {
  var codedElements: [Any] { map { AnyHashable($0).base } }
  var codedObjects: [any KeyValueObservable]? { objects(self) }
  var codedCount: Int { count }
  var codedKind: CodedKind { .set }
}
extension NSArray: CodedCollection {
  var codedElements: [Any] { map { $0 } }
  var codedCount: Int { count }
  var codedKind: CodedKind { .array }
}
extension NSSet: CodedCollection {
  var codedElements: [Any] { map { $0 } }
  var codedCount: Int { count }
  var codedKind: CodedKind { .set }
}
extension NSOrderedSet: CodedCollection {
  var codedElements: [Any] { map { $0 } }
  var codedCount: Int { count }
  var codedKind: CodedKind { .orderedSet }
}

/// A dictionary, whose keys key-value coding takes for keys of its own.
protocol CodedDictionary {
  var codedEntries: [(key: Any, value: Any)] { get }
  var codedCount: Int { get }
  func codedValue(forKey key: String) -> Any?
  /// A copy in which the key has the value, `nil` for none, or `nil` if it was changed in place.
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
