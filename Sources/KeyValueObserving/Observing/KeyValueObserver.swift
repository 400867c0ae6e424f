// The classic API, as on Apple's platforms: one callback method, string key paths and a context pointer.

import CKVO
import Foundation

/// An object that observes with the classic callback method.
///
/// Compare `context` to distinguish your own observations from those of a superclass, and call `super` for the others:
/// ```swift
/// nonisolated(unsafe) private let myContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
///
/// override func observeValue(
///   forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
/// ) {
///   guard context == myContext else {
///     return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
///   }
///   print(change?[.newKey] ?? "-")
/// }
/// ```
public protocol KeyValueObserver: AnyObject {
  /// Receives a change: called on the thread that makes it, before the setter returns, with no lock held.
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?)
}

extension KeyValueObservable {
  /// Registers an observer for a key path such as `"author.name"`.
  ///
  /// Neither retains the other. The observation lasts until it is removed. As on Apple's platforms, it has to be removed before the
  /// observer or the object is deallocated; otherwise a fault is reported, fatal by default (KVO0001, KVO0004).
  /// `observe(_:options:changeHandler:)` has no such requirement. An observer that is registered twice is notified twice.
  ///
  /// A key that the class does not have is accepted, as on Apple's platforms, so that it can be announced manually. In a longer
  /// path, or if its value is needed at registration, it is fault KVO0009. A path with an empty component is fault KVO0010.
  ///
  /// A path may end with a collection operator, as in `"people.@sum.age"`. It is computed again when the collection or one of the
  /// values that it uses changes. A path through an array or a set without an operator is fault KVO0018, as on Apple's platforms.
  public nonisolated func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let object = adoptedObject
    guard let components = components(ofPath: keyPath) else {
      return raiseRegistrationFault(KVO_ERROR_MALFORMED_KEY_PATH, object: object, keyPath: keyPath, site: site)
    }
    let cls = KeyValueClass.of(self)
    cls.reportSelfDependency(of: components[0], site)
    let key = keyOfChanges(of: components[0])
    let isRuntime = self is KeyValueRuntimeObject
    let property = cls.property(named: components[0])
    let isUndefined = components.count == 1 && !isRuntime && property == nil
    // A key that the class does not have has the value that the class returns for undefined keys. A class may also provide all keys
    // itself.
    let isStored = isUndefined ? options.isDisjoint(with: [.old, .new]) : isRuntime || property?.isDirect ?? false
    let isSimple = isStored && !cls.answersKeysItself
    // A property observed under another key than its name is a path of one component, and is removed as such.
    let isNamed = key == keyHash(components[0])
    let isDirect = components.count == 1 && isNamed && !cls.isAffected(key) && isSimple
    let needsValue = components.count > 1 || options.isSuperset(of: [.initial, .new])
    if needsValue {
      do { _ = try KeyPathWalk.observedValue(of: self, at: components) } catch {
        return raise(
          error, .registration(keyPath: keyPath, observer: observer, options: options, context: context, site))
      }
    }
    let classic = ClassicObservation(
      observer: observer, object: self, keyPath: keyPath, context: context, options: options, site: site,
      evaluating: isDirect ? nil : components, isUndefined: isUndefined)
    let registered = classic.register(with: object, key: isDirect ? key : nil)
    if components.count == 1, !isRuntime, registered != 0 { reportSilence(of: components[0], site) }
  }

  /// Removes the newest registration of an observer for a key path, whatever its context.
  ///
  /// It is fault KVO0002 if there is none.
  public nonisolated func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    remove(observer, keyPath, context: nil, matchContext: false, SourceLocation(file: fileID, line: line))
  }

  /// Removes the newest registration of an observer for a key path and a context; `nil` matches only `nil`.
  ///
  /// It is fault KVO0002 if there is none.
  public nonisolated func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    remove(observer, keyPath, context: context, matchContext: true, SourceLocation(file: fileID, line: line))
  }

  private nonisolated func remove(
    _ observer: any KeyValueObserver, _ keyPath: String, context: UnsafeMutableRawPointer?, matchContext: Bool,
    _ site: SourceLocation
  ) {
    let identity = ObserverIdentity(observer)
    let object = adoptedObject
    identity.className.withCString { name in
      var identity = kvo_observer_identity(class_name: name, address: identity.address)
      _ = kvo_binding_remove(object, &identity, keyPath, context, matchContext, site.cFile, site.cLine)
    }
  }
}

/// The observer's class and address for reports.
struct ObserverIdentity: @unchecked Sendable {
  let className: String
  let address: UnsafeRawPointer

  init(_ observer: AnyObject) {
    className = _typeName(type(of: observer), qualified: false)
    address = UnsafeRawPointer(Unmanaged.passUnretained(observer).toOpaque())
  }

  /// The address in the format of the C runtime.
  var addressText: String { hexadecimal(UnsafeMutableRawPointer(mutating: address)) }
}
