// Methods of key-value coding that a class can override: for undefined keys, for `nil`, and for validation.

import CKVO

extension KeyValueObservable {
  public nonisolated static var accessInstanceVariablesDirectly: Bool { true }

  public nonisolated func value(forKey key: String) -> Any? { codedValue(forKey: key) }

  public nonisolated func setValue(_ value: Any?, forKey key: String) { setCodedValue(value, forKey: key) }

  public nonisolated func value(forUndefinedKey key: String) -> Any? {
    _KeyValueDefaults.value(self, forUndefinedKey: key)
  }

  public nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) {
    _KeyValueDefaults.setValue(self, value, forUndefinedKey: key)
  }

  public nonisolated func setNilValueForKey(_ key: String) { _KeyValueDefaults.setNilValueForKey(self, key) }

  public nonisolated func validateValue(_ value: inout Any?, forKey key: String) throws {
    try _KeyValueDefaults.validateValue(self, &value, forKey: key)
  }

  public nonisolated var observationInfo: UnsafeMutableRawPointer? { _KeyValueDefaults.observationInfo(self) }
}

extension KeyValueObservable {
  /// Returns what the default implementation of `value(forKey:)` returns; for a class that has no `super` to call.
  ///
  /// ```swift
  /// func value(forKey key: String) -> Any? { key == "answer" ? 42 : codedValue(forKey: key) }
  /// ```
  public nonisolated func codedValue(forKey key: String) -> Any? {
    if let value = definedValue(forKey: key) { return value }
    return key == "self" ? self : value(forUndefinedKey: key)
  }

  /// Does what the default implementation of `setValue(_:forKey:)` does; for a class that has no `super` to call.
  public nonisolated func setCodedValue(_ value: Any?, forKey key: String) {
    do { try setCoded(value, forKey: key) } catch { raise(error, askedOf: self, forKey: key) }
  }
}

/// The default implementations of the hooks. The macro generates methods that call these and that subclasses can override; defaults in a
/// protocol extension would be statically bound.
///
/// They are not members of ``KeyValueObservable``, so that editors do not offer them behind an object.
public enum _KeyValueDefaults {
  public static func value(_ object: some KeyValueObservable, forUndefinedKey key: String) -> Any? {
    raise(.undefinedKey(of: object, key: key, .get), askedOf: object, forKey: key)
    return nil
  }

  public static func setValue(_ object: some KeyValueObservable, _ value: Any?, forUndefinedKey key: String) {
    raise(.undefinedKey(of: object, key: key, .set), askedOf: object, forKey: key)
  }

  public static func setNilValueForKey(_ object: some KeyValueObservable, _ key: String) {
    raiseNilValue(of: object, key: key)
  }

  public static func validateValue(_ object: some KeyValueObservable, _ value: inout Any?, forKey key: String) throws {
    try KeyValueClass.of(object).validator(forKey: key)?(object, &value)
  }

  @safe public static func observationInfo(_ object: some KeyValueObservable) -> UnsafeMutableRawPointer? {
    let object = object.__keyValueObject
    return kvo_object_is_observed(object) ? UnsafeMutableRawPointer(object) : nil
  }

  /// Returns what the members of the class for single keys declare.
  public static func keyPathsForValuesAffectingValue(
    _ type: any KeyValueObservable.Type, forKey key: String
  ) -> Set<String> {
    KeyValueClassDescription.of(type).paths(affecting: key)
  }

  public static func automaticallyNotifiesObservers(_ type: any KeyValueObservable.Type, forKey key: String) -> Bool {
    KeyValueClassDescription.of(type).automaticallyNotifies(ofKey: key)
  }
}
