// String keys: the value of an object for a key, and the recording of its dependencies.

import CKVO
import CSwiftRuntime

extension KeyValueObservable {
  /// Returns the value of a key of the class, and records the key; the inner optional is `nil` for a nil value, the outer one if
  /// there is no such key.
  nonisolated func definedValue(forKey key: String) -> Any?? {
    if let runtimeObject = self as? KeyValueRuntimeObject { return runtimeObject.definedValue(of: key) }
    recordDependencies(ofKey: key)
    return KeyValueClass.of(self).property(named: key).map { recorded($0) { $0.readUnwrapped(self) } }
  }

  /// Reads a property. While the runtime records, the reads of its getter are recorded, unless the class declares its dependencies.
  nonisolated func recorded<Value>(_ property: KeyValueProperty, _ read: (KeyValueProperty) -> Value) -> Value {
    guard kvo_track_is_recording(), KeyValueClass.of(self).isDeclared(property) else { return read(property) }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    return read(property)
  }

  /// Returns whether the class has the key.
  nonisolated func defines(_ key: String) -> Bool {
    if let runtimeObject = self as? KeyValueRuntimeObject { return runtimeObject.propertyName(for: key) != nil }
    return KeyValueClass.of(self).property(named: key) != nil
  }

  /// Declares to the runtime, while it records, that the value of the evaluation is that of a key, if the key is a stored property.
  /// For any other collection, it declares that announced changes of the key's elements are changes of the value.
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

  /// Returns the hash of the key whose changes are notified: that of the property that the key stands for.
  nonisolated func keyOfChanges(of key: String) -> UInt64 { keyOfChanges(of: key, KeyValueClass.of(self)) }

  private nonisolated func keyOfChanges(of key: String, _ cls: KeyValueClass) -> UInt64 {
    if let property = cls.property(named: key) { return property.key }
    guard let runtimeObject = self as? KeyValueRuntimeObject else { return keyHash(key) }
    return keyHash(runtimeObject.propertyName(for: key) ?? key)
  }

  /// Records, while the runtime records, the key itself, because its changes may be announced manually, and what is declared to
  /// affect it.
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
    guard visited.insert(KeyOfObject(object: adoptedObject, key: key)).inserted else { return }
    kvo_track_coded_read(adoptedObject, key)
    guard cls.isAffected(key) else { return }
    for path in cls.affectingPaths[key] ?? [] {
      recordPath(components(ofCodedPath: path)[...], nil, &visited)
    }
    for path in cls.affectingKeyPaths[key] ?? [] {
      let known = cls.known(of: path)
      if let chain = known?.chain, chain.needsKeys {
        recordPath(chain.properties.map(\.name)[...], chain.properties, &visited)
        continue
      }
      if let head = known?.head {
        recordPath(head.properties.map(\.name)[...], head.properties, &visited)
        if head.replacesReads(from: self) { continue }
      }
      if let forced = known?.forced {
        _ = forced.read(self) { self[keyPath: path] }
      } else {
        _ = self[keyPath: path]  // records what it goes through
      }
    }
  }

  /// - Parameter properties: The properties that the components name, if they are those of a typed key path.
  private nonisolated func recordPath(
    _ components: ArraySlice<String>, _ properties: [KeyValueProperty]?, _ visited: inout Set<KeyOfObject>
  ) {
    guard let name = components.first else { return }
    let first = properties?[components.startIndex].renamed(in: self).name ?? name
    let cls = KeyValueClass.of(self)
    record(keyOfChanges(of: first, cls), cls, &visited)
    let rest = components.dropFirst()
    guard let value = recordedValue(of: first, cls, isLast: rest.isEmpty), let next = unwrapped(value) else { return }
    recordPath(rest, behind: next, properties, &visited)
  }

  /// Records a path for an object, or for each element of a collection, as an operator reads it: `items.cost` and `items.@sum.cost` both
  /// depend on each cost. (Apple does not support such a path.)
  private nonisolated func recordPath(
    _ components: ArraySlice<String>, behind value: Any, _ properties: [KeyValueProperty]?,
    _ visited: inout Set<KeyOfObject>
  ) {
    guard let elements = (value as? any KeyValueCodedCollection)?._codedElements else {
      unwrapped(value).flatMap(observable)?.recordPath(components, properties, &visited)
      return
    }
    let components = components.drop { $0.hasPrefix("@") }
    guard !components.isEmpty else { return }
    for element in elements { recordPath(components, behind: element, properties, &visited) }
  }

  /// Reads a key of a declared path. The value of the last one is read only if what its getter reads counts, and not returned.
  private nonisolated func recordedValue(of key: String, _ cls: KeyValueClass, isLast: Bool) -> Any? {
    // C records what affects the key.
    if let runtimeObject = self as? KeyValueRuntimeObject {
      let value = runtimeObject.definedValue(of: key) ?? nil
      return isLast ? nil : value
    }
    guard let property = cls.property(named: key) else { return nil }
    guard isLast else { return .some(recorded(property) { $0.read(self) }) }
    recordReads(of: property, cls)
    return nil
  }

  /// Records what the getter of a property at the end of a declared path reads, if the property changes with that: what changes a
  /// computed property, or the lifetime of the object that a weak property refers to.
  private nonisolated func recordReads(of property: KeyValueProperty, _ cls: KeyValueClass) {
    guard !property.isDirect, !cls.isDeclared(property) else { return }
    let evaluation = kvo_track_pause()
    kvo_track_resume(evaluation)
    var recorded = kvo_recorded(evaluation: evaluation, object: adoptedObject, key: property.key, outer: nil)
    withUnsafeMutablePointer(to: &recorded) { recorded in
      // The getter may itself read, with `value(forKey:)`, a key that depends on this property.
      guard kvo_recorded_begin(recorded) else { return }
      defer { kvo_recorded_end(recorded) }
      _ = property.read(self)
    }
  }
}

/// Detects cycles of keys that affect each other. The reference to an object of C may be a temporary one.
private struct KeyOfObject: Hashable {
  let object: KeyValueObjectReference
  let key: UInt64
}

/// Returns the components of an observed key path, or `nil` if one is empty.
func components(ofPath path: String) -> [String]? {
  let components = components(ofCodedPath: path)
  return components.allSatisfy { !$0.isEmpty } ? components : nil
}

/// Returns the components of a key path. An empty component is a valid key.
func components(ofCodedPath path: String) -> [String] {
  path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
}
