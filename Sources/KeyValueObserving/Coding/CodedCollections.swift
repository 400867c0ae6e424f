// Arrays, sets and dictionaries of any element type.

import Foundation

enum CodedKind {
  case array
  case set
  case orderedSet
}

/// A collection that key-value coding reads element by element.
protocol CodedCollection {
  var codedElements: [Any] { get }
  /// The elements, if the element type is an observable class, so that the elements need not be cast one by one.
  var codedObjects: [any KeyValueObservable]? { get }
  var codedCount: Int { get }
  var codedKind: CodedKind { get }
}

extension CodedCollection {
  var codedObjects: [any KeyValueObservable]? { nil }
}

/// Returns the elements as objects if the element type is an observable class.
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
