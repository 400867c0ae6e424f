// Keys as strings: what an object answers for one, and what is recorded of it while the runtime records.

import CKVO
import Foundation

extension KeyValueObservable {
  /// The value of a key that the class has, `nil` inside for a nil; `nil` outside if it has none. Records the key.
  nonisolated func definedValue(forKey key: String) -> Any?? {
    if let runtimeObject = self as? KeyValueRuntimeObject { return runtimeObject.definedValue(of: key) }
    recordDependencies(ofKey: key)
    return KeyValueClass.of(self).property(named: key).map { unwrapped($0.read(self)) }
  }

  /// Declares, while the runtime records, that the value of what is evaluated is that of a key, if the key is a stored property.
  nonisolated func declareValue(isOf key: String) {
    guard kvo_track_is_recording() else { return }
    let cls = KeyValueClass.of(self)
    guard let property = cls.property(named: key), property.isDirect, !cls.isAffected(property.key) else { return }
    kvo_track_value_is_of(adoptedObject, property.key)
  }

  /// The hash by which changes of a key are told: that of the property that answers it.
  nonisolated func keyOfChanges(of key: String) -> UInt64 {
    if let runtimeObject = self as? KeyValueRuntimeObject {
      return keyHash(runtimeObject.propertyName(for: key) ?? key)
    }
    return KeyValueClass.of(self).property(named: key)?.key ?? keyHash(key)
  }

  /// While the runtime records: subscribes to a key itself, for those who announce its changes by hand, and to what is declared
  /// to affect it.
  nonisolated func recordDependencies(ofKey key: String) {
    guard kvo_track_is_recording() else { return }
    var visited: Set<KeyOfObject> = []
    record(key, &visited)
  }

  private nonisolated func record(_ key: String, _ visited: inout Set<KeyOfObject>) {
    let hash = keyOfChanges(of: key)
    guard visited.insert(KeyOfObject(object: ObjectIdentifier(self), key: hash)).inserted else { return }
    kvo_track_coded_read(adoptedObject, hash)
    for path in KeyValueClass.of(self).affectingPaths[hash] ?? [] {
      recordPath(path.split(separator: ".").map(String.init)[...], &visited)
    }
    // To evaluate one is to read what it goes through.
    for path in KeyValueClass.of(self).affectingKeyPaths[hash] ?? [] { _ = self[keyPath: path] }
  }

  private nonisolated func recordPath(_ components: ArraySlice<String>, _ visited: inout Set<KeyOfObject>) {
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

/// The components of an observed key path, or `nil` when one is empty.
func components(ofPath path: String) -> [String]? {
  let components = components(ofCodedPath: path)
  return components.allSatisfy { !$0.isEmpty } ? components : nil
}

/// The components of a key path; an empty one is a key like any other.
func components(ofCodedPath path: String) -> [String] {
  path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
}
