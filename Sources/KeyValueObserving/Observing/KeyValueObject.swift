// A base class for observers and observable objects that use the classic callback, so that subclasses can override it and call
// super.

internal import CKVO
public import Foundation

/// A base class with the key-value observing and coding methods of Apple's `NSObject`.
///
/// Derive from it to override ``observeValue(forKeyPath:of:change:context:)`` in a hierarchy of classes, each with its own
/// context, as on Apple's platforms. Add `@KeyValueObservable` to a subclass to make its own properties observable.
open class KeyValueObject: NSObject, KeyValueObservable, KeyValueObserver {
  public nonisolated let _$kvo = KeyValueObservationHeader()

  public nonisolated var __keyValueObject: KeyValueObjectReference { _$kvo.reference }

  /// Ends the chain of the subclasses' property lists; this class has no properties itself.
  public class func __keyValueProperties<Root: KeyValueObject>(
    _: Root.Type, _ description: KeyValueClassDescription
  ) {}

  open nonisolated class func __describeKeyValueProperties(_ description: KeyValueClassDescription) {}

  /// See ``KeyValueObservable/automaticallyNotifiesObservers(forKey:)``.
  open nonisolated class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    __automaticallyNotifiesObservers(forKey: key)
  }

  /// See ``KeyValueObservable/keyPathsForValuesAffectingValue(forKey:)``.
  open nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    __keyPathsForValuesAffectingValue(forKey: key)
  }

  /// Receives a change that no subclass has handled; this is fault KVO0022.
  ///
  /// Override it, handle the observations whose context is your own, and call `super` for the others.
  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    raiseUnhandledChange(observer: self, keyPath: keyPath, object: object, change: change, context: context)
  }

  /// See ``KeyValueObservable/willChangeValue(forKey:)``. Setters do not call it.
  open nonisolated func willChangeValue(forKey key: String) {
    kvo_will_change(__keyValueObject, name(ofAnnounced: key))
  }

  /// See ``KeyValueObservable/didChangeValue(forKey:)``. Setters do not call it.
  open nonisolated func didChangeValue(forKey key: String) {
    kvo_did_change(__keyValueObject, name(ofAnnounced: key))
  }

  /// See ``KeyValueObservable/accessInstanceVariablesDirectly``.
  open nonisolated class var accessInstanceVariablesDirectly: Bool { true }

  /// See ``KeyValueObservable/value(forKey:)``.
  open nonisolated func value(forKey key: String) -> Any? { codedValue(forKey: key) }

  /// See ``KeyValueObservable/setValue(_:forKey:)``.
  open nonisolated func setValue(_ value: Any?, forKey key: String) { setCodedValue(value, forKey: key) }

  /// See ``KeyValueObservable/value(forUndefinedKey:)``.
  open nonisolated func value(forUndefinedKey key: String) -> Any? { __value(forUndefinedKey: key) }

  /// See ``KeyValueObservable/setValue(_:forUndefinedKey:)``.
  open nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) {
    __setValue(value, forUndefinedKey: key)
  }

  /// See ``KeyValueObservable/setNilValueForKey(_:)``.
  open nonisolated func setNilValueForKey(_ key: String) { __setNilValueForKey(key) }

  /// See ``KeyValueObservable/validateValue(_:forKey:)``.
  open nonisolated func validateValue(_ value: inout Any?, forKey key: String) throws {
    try __validateValue(&value, forKey: key)
  }

  /// See ``KeyValueObservable/observationInfo``.
  open nonisolated var observationInfo: UnsafeMutableRawPointer? { __observationInfo }
}
