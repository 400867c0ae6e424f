// Keys as strings: what an object answers for one, and what is recorded of it while the runtime records.

import CKVO
import Foundation

extension KeyValueObservable {
  /// The value of a key that the class has, `nil` inside for a nil; `nil` outside if it has none. Records the key.
  nonisolated func definedValue(forKey key: String) -> Any?? {
    if let runtimeObject = self as? KeyValueRuntimeObject { return runtimeObject.definedValue(of: key) }
    recordDependencies(ofKey: key)
    return KeyValueClass.of(self).property(named: key).map { recorded($0) { $0.readUnwrapped(self) } }
  }

  /// Reads a property. While the runtime records, what its getter reads is recorded, unless the class says what changes it.
  nonisolated func recorded<Value>(_ property: KeyValueProperty, _ read: (KeyValueProperty) -> Value) -> Value {
    guard kvo_track_is_recording(), KeyValueClass.of(self).isDeclared(property) else { return read(property) }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    return read(property)
  }

  /// Whether the class has such a key.
  nonisolated func defines(_ key: String) -> Bool {
    if let runtimeObject = self as? KeyValueRuntimeObject { return runtimeObject.propertyName(for: key) != nil }
    return KeyValueClass.of(self).property(named: key) != nil
  }

  /// Declares, while the runtime records, that the value of what is evaluated is that of a key, if the key is a stored property;
  /// of any other that is a collection, that changes of its elements which are announced for the key are changes of the value's.
  nonisolated func declareValue(isOf key: String) {
    guard kvo_track_is_recording() else { return }
    let cls = KeyValueClass.of(self)
    guard !cls.answersKeysItself, let property = cls.property(named: key) else { return }
    if property.isDirect, !cls.isAffected(property.key) {
      kvo_track_value_is_of(adoptedObject, property.key)
    } else if property.isCollection {
      kvo_track_elements_are_of(adoptedObject, property.key)
    }
  }

  /// The hash by which changes of a key are told: that of the property that answers it.
  nonisolated func keyOfChanges(of key: String) -> UInt64 { keyOfChanges(of: key, KeyValueClass.of(self)) }

  private nonisolated func keyOfChanges(of key: String, _ cls: KeyValueClass) -> UInt64 {
    if let property = cls.property(named: key) { return property.key }
    guard let runtimeObject = self as? KeyValueRuntimeObject else { return keyHash(key) }
    return keyHash(runtimeObject.propertyName(for: key) ?? key)
  }

  /// While the runtime records: subscribes to a key itself, for those who announce its changes by hand, and to what is declared
  /// to affect it.
  nonisolated func recordDependencies(ofKey key: String) {
    guard kvo_track_is_recording() else { return }
    let cls = KeyValueClass.of(self)
    let hash = keyOfChanges(of: key, cls)
    guard cls.isAffected(hash) else {
      kvo_track_coded_read(adoptedObject, hash)
      return
    }
    var visited: Set<KeyOfObject> = []
    record(hash, cls, &visited)
  }

  private nonisolated func record(_ key: UInt64, _ cls: KeyValueClass, _ visited: inout Set<KeyOfObject>) {
    guard visited.insert(KeyOfObject(object: ObjectIdentifier(self), key: key)).inserted else { return }
    kvo_track_coded_read(adoptedObject, key)
    guard cls.isAffected(key) else { return }
    for path in cls.affectingPaths[key] ?? [] {
      recordPath(components(ofCodedPath: path)[...], &visited)
    }
    // To evaluate one is to read what it goes through.
    for path in cls.affectingKeyPaths[key] ?? [] { _ = self[keyPath: path] }
  }

  private nonisolated func recordPath(_ components: ArraySlice<String>, _ visited: inout Set<KeyOfObject>) {
    guard let first = components.first else { return }
    let cls = KeyValueClass.of(self)
    record(keyOfChanges(of: first, cls), cls, &visited)
    let rest = components.dropFirst()
    guard !rest.isEmpty, let property = cls.property(named: first) else { return }
    guard let next = unwrapped(recorded(property) { $0.read(self) }) else { return }
    // Behind a collection all elements count. (Apple takes no such path.)
    for object in (next as? any CodedCollection)?.codedElements ?? [next] {
      unwrapped(object).flatMap(observable)?.recordPath(rest, &visited)
    }
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
