// Methods of key-value coding that a class can override: for undefined keys, for `nil`, and for validation.

import CKVO
import Foundation

extension KeyValueObservable {
  public nonisolated static var accessInstanceVariablesDirectly: Bool { true }

  public nonisolated func value(forKey key: String) -> Any? { codedValue(forKey: key) }

  public nonisolated func setValue(_ value: Any?, forKey key: String) { setCodedValue(value, forKey: key) }

  public nonisolated func value(forUndefinedKey key: String) -> Any? { __value(forUndefinedKey: key) }

  public nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) {
    __setValue(value, forUndefinedKey: key)
  }

  public nonisolated func setNilValueForKey(_ key: String) { __setNilValueForKey(key) }

  public nonisolated func validateValue(_ value: inout Any?, forKey key: String) throws {
    try __validateValue(&value, forKey: key)
  }

  public nonisolated var observationInfo: UnsafeMutableRawPointer? { __observationInfo }
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

/// The default implementations. The macro generates methods that call these and that subclasses can override; defaults in a
/// protocol extension would be statically bound.
extension KeyValueObservable {
  public nonisolated func __value(forUndefinedKey key: String) -> Any? {
    raise(.undefinedKey(of: self, key: key, .get), askedOf: self, forKey: key)
    return nil
  }

  public nonisolated func __setValue(_ value: Any?, forUndefinedKey key: String) {
    raise(.undefinedKey(of: self, key: key, .set), askedOf: self, forKey: key)
  }

  public nonisolated func __setNilValueForKey(_ key: String) { raiseNilValue(of: self, key: key) }

  public nonisolated func __validateValue(_ value: inout Any?, forKey key: String) throws {
    try KeyValueClass.of(self).validator(forKey: key)?(self, &value)
  }

  @safe public nonisolated var __observationInfo: UnsafeMutableRawPointer? {
    let object = __keyValueObject
    return kvo_object_is_observed(object) ? UnsafeMutableRawPointer(object) : nil
  }
}
