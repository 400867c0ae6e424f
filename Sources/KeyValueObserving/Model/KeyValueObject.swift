// A base class for observers and observable objects that use the classic callback, so that subclasses can override it and call
// super.

import CKVO
public import Foundation

/// A base class with the key-value observing and coding methods of Apple's `NSObject`.
///
/// Derive from it to override ``observeValue(forKeyPath:of:change:context:)`` in a hierarchy of classes, each with its own
/// context, as on Apple's platforms. Add `@KeyValueObservable` to a subclass to make its own properties observable:
/// ```swift
/// @KeyValueObservable
/// final class Panel: KeyValueObject {
///   nonisolated(unsafe) static let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
///   var caption = ""
///
///   override func observeValue(
///     forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
///   ) {
///     guard context == Panel.context else {
///       return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
///     }
///     caption = change?[.newKey] as? String ?? ""
///   }
/// }
/// ```
/// The callback runs on the thread that makes the change, before the setter returns.
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
    _KeyValueDefaults.automaticallyNotifiesObservers(self, forKey: key)
  }

  /// See ``KeyValueObservable/keyPathsForValuesAffectingValue(forKey:)``.
  open nonisolated class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    _KeyValueDefaults.keyPathsForValuesAffectingValue(self, forKey: key)
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
    announceWillChange(key, CallLocation.site(ofObject: self, key: key))
  }

  /// See ``KeyValueObservable/didChangeValue(forKey:)``. Setters do not call it.
  open nonisolated func didChangeValue(forKey key: String) {
    announceDidChange(key, CallLocation.site(ofObject: self, key: key))
  }

  /// See ``KeyValueObservable/accessInstanceVariablesDirectly``.
  open nonisolated class var accessInstanceVariablesDirectly: Bool { true }

  /// See ``KeyValueObservable/value(forKey:)``.
  open nonisolated func value(forKey key: String) -> Any? { codedValue(forKey: key) }

  /// See ``KeyValueObservable/setValue(_:forKey:)``.
  open nonisolated func setValue(_ value: Any?, forKey key: String) { setCodedValue(value, forKey: key) }

  /// See ``KeyValueObservable/value(forUndefinedKey:)``.
  open nonisolated func value(forUndefinedKey key: String) -> Any? {
    _KeyValueDefaults.value(self, forUndefinedKey: key)
  }

  /// See ``KeyValueObservable/setValue(_:forUndefinedKey:)``.
  open nonisolated func setValue(_ value: Any?, forUndefinedKey key: String) {
    _KeyValueDefaults.setValue(self, value, forUndefinedKey: key)
  }

  /// See ``KeyValueObservable/setNilValueForKey(_:)``.
  open nonisolated func setNilValueForKey(_ key: String) { _KeyValueDefaults.setNilValueForKey(self, key) }

  /// See ``KeyValueObservable/validateValue(_:forKey:)``.
  open nonisolated func validateValue(_ value: inout Any?, forKey key: String) throws {
    try _KeyValueDefaults.validateValue(self, &value, forKey: key)
  }

  // MARK: - Bindings

  /// Binds a property of this object to a key path of another one, as AppKit's views are bound.
  ///
  /// ```swift
  /// field.bind(.value, to: person, withKeyPath: "name", options: [.nullPlaceholder: "No name"])
  /// ```
  /// The property is set through key-value coding to the observed value, now and at each change, through the value transformer if there is
  /// one, and to a placeholder where there is no value. When anything else than the binding sets the property, the observed object is set
  /// to its value, converted back, and validated if ``NSBindingOption/validatesImmediately`` says so; then the property is set to what the
  /// observed object has made of it. A binding through a transformer that does not allow reverse transformation, or to a key path with a
  /// collection operator, sets the property only.
  ///
  /// The binding retains neither object, and ends with either. It replaces the binding of that name. Sets are made on the thread that makes
  /// the change. Bindings that never agree are fault KVO0024, as with
  /// ``KeyValueSource/bind(to:_:initially:exclusive:isolation:fileID:line:applied:)-(_,ReferenceWritableKeyPath<Target,Value>,_,_,_,_,_,_)``.
  /// A property that this object does not have is fault KVO0009, and so is a key that the observed object does not have, unless an option
  /// says otherwise. An object that cannot be observed, and an option that has no effect here, is fault KVO0008. Nothing is bound then, and
  /// the binding of that name stays.
  ///
  /// - Parameters:
  ///   - binding: The key of the property.
  ///   - observable: The object to observe, a ``KeyValueObservable``. It is not retained.
  ///   - keyPath: The key path to observe.
  ///   - options: Placeholders, transformer and validation.
  open nonisolated func bind(
    _ binding: NSBindingName, to observable: Any, withKeyPath keyPath: String, options: [NSBindingOption: Any]? = nil
  ) {
    makeBinding(binding, observable, keyPath, options ?? [:])
  }

  /// Ends the binding of a property that ``bind(_:to:withKeyPath:options:)`` has made. Does nothing if there is none.
  open nonisolated func unbind(_ binding: NSBindingName) { endBinding(binding) }

  /// Returns the observed object, the key path and the options of a binding; `nil` if there is none.
  open nonisolated func infoForBinding(_ binding: NSBindingName) -> [NSBindingInfoKey: Any]? {
    knownInfo(of: binding)
  }

  /// The bindings that the class and its superclasses expose, those of superclasses first.
  ///
  /// It is information for programs that offer bindings to a user. Other properties can be bound too.
  open nonisolated var exposedBindings: [NSBindingName] { ExposedBindings.names(of: type(of: self)) }

  /// Exposes a binding of this class. Any thread.
  open nonisolated class func exposeBinding(_ binding: NSBindingName) { ExposedBindings.expose(binding, of: self) }

  /// Returns the type of the property of a binding, without its optional; `nil` if there is no such property.
  ///
  /// AppKit's method returns a class. Here the type of a property need not be one.
  open nonisolated func valueClassForBinding(_ binding: NSBindingName) -> Any.Type? { valueType(of: binding) }

  /// Receives the error of a value that was set, and that the observed object's validation has refused.
  ///
  /// Override it to tell the user, as AppKit does. The method of this class does nothing. Afterwards the property is set to the observed
  /// value again.
  open nonisolated func presentError(_ error: any Error, forBinding binding: NSBindingName) {}

  /// See ``KeyValueObservable/observationInfo``.
  open nonisolated var observationInfo: UnsafeMutableRawPointer? { _KeyValueDefaults.observationInfo(self) }
}
