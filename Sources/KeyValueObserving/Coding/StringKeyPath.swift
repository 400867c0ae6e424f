// Key paths as strings: walked by key-value coding, each component recorded while the runtime records.

import CKVO
import Foundation

/// Why a string key path cannot be walked; does not leave the thread that walks.
struct UndefinedKey: Error, @unchecked Sendable {
  let object: any KeyValueObservable
  let key: String
}

extension KeyValueObservable {
  /// The value of one key; records it.
  func value(forComponent key: String) throws(UndefinedKey) -> Any {
    if let runtimeObject = self as? KeyValueRuntimeObject {
      guard runtimeObject.hasProperty(key) else { throw UndefinedKey(object: self, key: key) }
      return runtimeObject.anyValue(forKey: key) as Any
    }
    recordDependencies(ofKey: key)
    guard let property = KeyValueClass.of(self).property(named: key) else { throw UndefinedKey(object: self, key: key) }
    return property.read(self)
  }

  /// The value at the end of a path; `nil` when an object on the way is `nil`.
  func value(atPath components: ArraySlice<String>) throws(UndefinedKey) -> Any? {
    guard let first = components.first else { return self }
    let value = try value(forComponent: first)
    let rest = components.dropFirst()
    if rest.isEmpty {
      if kvo_track_is_recording(), isStored(first) { kvo_track_value_is_of(adoptedObject, keyHash(first)) }
      return value
    }
    guard let next = unwrapped(value) else { return nil }
    guard let object = next as? any KeyValueObservable else { throw UndefinedKey(object: self, key: first) }
    return try object.value(atPath: rest)
  }

  /// Whether a key's value is just that of a stored property.
  private func isStored(_ key: String) -> Bool {
    let cls = KeyValueClass.of(self)
    return cls.property(named: key).map { $0.isDirect && !cls.isAffected($0.key) } ?? false
  }

  /// While the runtime records: subscribes to a key itself, for those who announce its changes by hand, and to what is declared
  /// to affect it.
  func recordDependencies(ofKey key: String) {
    guard kvo_track_is_recording() else { return }
    var visited: Set<KeyOfObject> = []
    record(key, &visited)
  }

  private func record(_ key: String, _ visited: inout Set<KeyOfObject>) {
    let hash = keyHash(key)
    guard visited.insert(KeyOfObject(object: ObjectIdentifier(self), key: hash)).inserted else { return }
    kvo_track_coded_read(adoptedObject, hash)
    for path in KeyValueClass.of(self).affectingPaths[hash] ?? [] {
      recordPath(path.split(separator: ".").map(String.init)[...], &visited)
    }
    // To evaluate one is to read what it goes through.
    for path in KeyValueClass.of(self).affectingKeyPaths[hash] ?? [] { _ = self[keyPath: path] }
  }

  private func recordPath(_ components: ArraySlice<String>, _ visited: inout Set<KeyOfObject>) {
    guard let first = components.first else { return }
    record(first, &visited)
    let rest = components.dropFirst()
    guard !rest.isEmpty, let property = KeyValueClass.of(self).property(named: first) else { return }
    (unwrapped(property.read(self)) as? any KeyValueObservable)?.recordPath(rest, &visited)
  }
}

/// Breaks circles of keys that affect each other.
private struct KeyOfObject: Hashable {
  let object: ObjectIdentifier
  let key: UInt64
}

/// The components of a key path, or `nil` when one is empty.
func components(ofPath path: String) -> [String]? {
  let components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  return components.allSatisfy { !$0.isEmpty } ? components : nil
}
