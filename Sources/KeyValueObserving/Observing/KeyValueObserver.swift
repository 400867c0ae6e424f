// The classic API, as on Apple's platforms: one callback method, string key paths and a context pointer.

import CKVO

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
  /// observer or the object is deallocated; otherwise a fault is reported, fatal by default (KVO0001, KVO0004). With the options
  /// ``NSKeyValueObservingOptions/endsWithObject`` and ``NSKeyValueObservingOptions/endsWithObserver`` it ends by itself then, and
  /// `observe(_:options:changeHandler:)` has no such requirement. An observer that is registered twice is notified twice.
  ///
  /// A key that the class does not have is accepted, as on Apple's platforms, so that it can be announced manually. In a longer
  /// path, or if its value is needed at registration, it is fault KVO0009. A path with an empty component is fault KVO0010.
  /// ``NSKeyValueObservingOptions/distinct`` together with `.prior` is fault KVO0008.
  ///
  /// A path may end with a collection operator, as in `"people.@sum.age"`. It is computed again when the collection or one of the
  /// values that it uses changes. A path through an array or a set without an operator is fault KVO0018, as on Apple's platforms.
  ///
  /// - Parameters:
  ///   - observer: The object whose `observeValue(forKeyPath:of:change:context:)` is called, on the thread that makes the change.
  ///   - keyPath: What to observe.
  ///   - options: Which values the change dictionary includes, and whether the observer is also called now and before changes.
  ///   - context: A pointer that is passed to the observer and distinguishes registrations.
  ///   - userInfo: Anything that reports and the graph show with the observation. An addition of this library, known from
  ///     MAKVONotificationCenter.
  public nonisolated func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    add(
      .observer(observer, note: note(nil, userInfo)), keyPath, options, context,
      SourceLocation(file: fileID, line: line))
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

  /// Removes all registrations of an observer with this object, of any key path and context.
  ///
  /// Does nothing if there is none. Shared observers are removed too; observations made with closures are not. After it returns, no new
  /// call of the observer begins for this object. Any thread. An addition of this library, known from MAKVONotificationCenter.
  public nonisolated func removeObserver(
    _ observer: any KeyValueObserver, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    _ = kvo_binding_end_all(adoptedObject, ObserverIdentity(observer).address, nil, false, site.cFile, site.cLine)
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

extension KeyValueObserver {
  /// Removes all registrations of this observer, of any key path and context, with all objects that it observes.
  ///
  /// ```swift
  /// deinit { removeFromAllObservedObjects() }
  /// ```
  /// Does nothing if there is none. Observations made with closures are not ended. After it returns, no new call of the observer
  /// begins for a registration that was made before. It searches all observations of the process, of which other threads cannot
  /// register or remove any meanwhile: with many, prefer ``KeyValueObservable/removeObserver(_:fileID:line:)`` or the option
  /// ``NSKeyValueObservingOptions/endsWithObserver``. Any thread. An addition of this library, known from MAKVONotificationCenter.
  public nonisolated func removeFromAllObservedObjects(fileID: StaticString = #fileID, line: UInt = #line) {
    let site = SourceLocation(file: fileID, line: line)
    _ = kvo_binding_end_all(nil, ObserverIdentity(self).address, nil, false, site.cFile, site.cLine)
  }
}

/// The observer's class and address for reports.
struct ObserverIdentity: @unchecked Sendable {
  let className: String
  let address: UnsafeRawPointer

  init(_ observer: AnyObject) {
    className = TypeNames.name(of: type(of: observer))
    address = UnsafeRawPointer(Unmanaged.passUnretained(observer).toOpaque())
  }

  /// The address in the format of the C runtime.
  var addressText: String { hexadecimal(UnsafeMutableRawPointer(mutating: address)) }
}
