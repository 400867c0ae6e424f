// Manual notification: willChange and didChange.

import CKVO
public import Foundation

extension KeyValueObservable {
  public nonisolated func willChangeValue(forKey key: String) {
    announceWillChange(key, CallLocation.site(ofObject: self, key: key))
  }

  public nonisolated func didChangeValue(forKey key: String) {
    announceDidChange(key, CallLocation.site(ofObject: self, key: key))
  }

  // `withCString` allocates nothing for a Swift string; passing the string itself would make an array.

  nonisolated func announceWillChange(_ key: String, _ site: SourceLocation?) {
    let object = adoptedObject
    _ = name(ofAnnounced: key).withCString { kvo_will_change_at(object, $0, site?.cFile, site?.cLine ?? 0) }
  }

  nonisolated func announceDidChange(_ key: String, _ site: SourceLocation?) {
    _ = name(ofAnnounced: key).withCString { kvo_did_change_at(__keyValueObject, $0, site?.cFile, site?.cLine ?? 0) }
  }

  public nonisolated func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    guard changeKind != .setting else { return willChangeValue(forKey: key) }
    let (positions, site) = (Array(indexes), CallLocation.site(ofObject: self, key: key))
    if kvo_object_is_observed(__keyValueObject), let property = KeyValueClass.of(self).property(named: key),
      kvo_binding_is_observed(__keyValueObject, property.key)
    {
      let found = CollectionProperty(object: self, property: property, site: site)
      guard found.valueType is any ListValue.Type else {
        kvo_binding_will_unobserved(__keyValueObject, property.key)
        return found.raiseNoCollection(found.valueType, "an array")
      }
      // An insertion may make the first list; of none, nothing can be removed or replaced.
      let value = unwrapped(property.read(self))
      let count = value == nil && changeKind != .insertion ? 0 : (value as? any Collection)?.count
      if let count, let last = positions.last, last >= (changeKind == .insertion ? count + positions.count : count) {
        kvo_binding_will_unobserved(__keyValueObject, property.key)
        return raisePositionsOutside(key, changeKind, last: last, count: count, site)
      }
    }
    let object = adoptedObject
    _ = name(ofAnnounced: key).withCString {
      kvo_will_change_indexes_at(
        object, kvo_change_kind(UInt32(changeKind.rawValue)), $0, positions, positions.count, site?.cFile,
        site?.cLine ?? 0)
    }
  }

  public nonisolated func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    guard changeKind != .setting else { return didChangeValue(forKey: key) }
    let (positions, site) = (Array(indexes), CallLocation.site(ofObject: self, key: key))
    _ = name(ofAnnounced: key).withCString {
      kvo_did_change_indexes_at(
        __keyValueObject, kvo_change_kind(UInt32(changeKind.rawValue)), $0, positions, positions.count, site?.cFile,
        site?.cLine ?? 0)
    }
  }

  private nonisolated func raisePositionsOutside(
    _ key: String, _ kind: NSKeyValueChange, last: Int, count: Int, _ site: SourceLocation?
  ) {
    let name = ObserverIdentity(self)
    raiseFault(
      KVO_FAULT_BAD_INDEXES,
      "a change of \"\(key)\" of \(name.className)@\(name.addressText) is announced at index \(last), and the "
        + "collection has \(count) element\(count == 1 ? "" : "s")"
        + (kind == .insertion ? " before the insertion" : "") + ": no observer is notified",
      help: "of a removal and a replacement count indexes before the change, of an insertion after it; "
        + "mutableArrayValue(for:) announces the right ones itself", site: site)
  }

  /// Returns the name of the property that a key stands for; its observers are the ones to notify. A will takes `adoptedObject` before:
  /// that describes the class, which may be the first one with such keys, so that the did finds the same name.
  nonisolated func name(ofAnnounced key: String) -> String {
    guard KeyValueClass.hasAliases.load(ordering: .relaxed) else { return key }
    return KeyValueClass.of(self).property(named: key)?.name ?? key
  }

  /// Calls `willChangeValue(forKey:)` with the key that a key path of one property of this class names.
  ///
  /// ```swift
  /// document.willChangeValue(for: \.title)
  /// document.readTitleFromFile()
  /// document.didChangeValue(for: \.title)
  /// ```
  public nonisolated func willChangeValue<Value>(
    for keyPath: KeyPath<Self, Value>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line)) { willChangeValue(forKey: $0) }
  }

  /// Calls `didChangeValue(forKey:)` with the key that a key path of one property of this class names.
  public nonisolated func didChangeValue<Value>(
    for keyPath: KeyPath<Self, Value>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line)) { didChangeValue(forKey: $0) }
  }

  /// Calls `willChange(_:valuesAt:forKey:)` with the key that a key path of one property of this class names.
  public nonisolated func willChange<Value>(
    _ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line)) {
      willChange(changeKind, valuesAt: indexes, forKey: $0)
    }
  }

  /// Calls `didChange(_:valuesAt:forKey:)` with the key that a key path of one property of this class names.
  public nonisolated func didChange<Value>(
    _ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line)) {
      didChange(changeKind, valuesAt: indexes, forKey: $0)
    }
  }

  /// Calls a method that announces a key, which a class may override, and records the source location of the call for reports.
  private nonisolated func announce(_ keyPath: AnyKeyPath, _ site: SourceLocation, _ call: (String) -> Void) {
    guard let name = name(of: keyPath, site) else { return }
    CallLocation(site, self, key: name).isPresent { call(name) }
  }

  /// Returns the key that a key path names. As on Apple's platforms, a key path that is not a single property of the class is a
  /// fault.
  nonisolated func name(of keyPath: AnyKeyPath, _ site: SourceLocation) -> String? {
    if let known = property(at: keyPath, isAnnounced: true) { return known.name }
    raiseFault(
      KVO_FAULT_UNDEFINED_KEY, "\(keyPath) is not a property of \(_typeName(type(of: self), qualified: false))",
      apple: "Could not extract a String from KeyPath \(keyPath)",
      help: "name one property of a @KeyValueObservable class, or use the string form", site: site)
    return nil
  }
}
