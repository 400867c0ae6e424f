// Shared observers: a set of observers that is registered with many objects of a class in one call each.

import CKVO
import Foundation

/// A collection of observers that can be registered with many objects of one class.
///
/// ```swift
/// let shared = NSKeyValueSharedObservers(observableClass: Document.self)
/// shared.addObserver(watcher, forKey: "title", options: [.new])
/// shared.addObserver(watcher, forKey: "pages")
/// let snapshot = shared.snapshot()
/// for document in documents { document.setSharedObservers(snapshot) }
/// ```
/// Apple's class, available there since macOS 15 and iOS 18. The observers are not retained. An observer that was deallocated is no
/// longer called; the next change is fault KVO0004, as for any classic observer. The registrations of an object end with the
/// object, which is not a fault. Add observers on one thread; a snapshot may be used on any thread.
public final class NSKeyValueSharedObservers: NSObject {
  private let observableClass: any KeyValueObservable.Type
  private var entries: [NSKeyValueSharedObserversSnapshot.Entry] = []

  /// Creates an empty collection for objects of a class and of its subclasses.
  public init(observableClass: any KeyValueObservable.Type) { self.observableClass = observableClass }

  /// Adds an observer. It takes effect with the next ``snapshot()``.
  ///
  /// - Parameters:
  ///   - observer: The observer. It has to outlive the objects that it is registered with.
  ///   - key: The name of a stored property of the class. Anything else, including key paths and properties that depend on others,
  ///     is fault KVO0009, because only stored properties can have shared observers.
  ///   - options: The options, as for `addObserver(_:forKeyPath:options:context:)`.
  ///   - context: A pointer that is passed to the observer.
  public func addObserver(
    _ observer: any KeyValueObserver, forKey key: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let cls = KeyValueClass.of(type: observableClass)
    guard let property = cls.property(named: key), property.isDirect, !cls.isAffected(property.key) else {
      let name = _typeName(observableClass, qualified: false)
      return raiseFault(
        KVO_FAULT_UNDEFINED_KEY, "\"\(key)\" is no stored property of \(name), and cannot be observed in common",
        help: "observe it on each object with addObserver(_:forKeyPath:options:context:)", site: site)
    }
    entries.append(
      .init(observer: observer, key: key, hash: property.key, options: options, context: context, site: site))
  }

  /// Returns a snapshot of the observers added so far, which can be registered with objects.
  public func snapshot() -> NSKeyValueSharedObserversSnapshot {
    NSKeyValueSharedObserversSnapshot(observableClass, entries)
  }
}

/// The observers of an ``NSKeyValueSharedObservers`` at one time. A snapshot is immutable.
public final class NSKeyValueSharedObserversSnapshot: NSObject, @unchecked Sendable {
  struct Entry {
    weak var observer: (any KeyValueObserver)?
    let key: String
    let hash: UInt64
    let options: NSKeyValueObservingOptions
    let context: UnsafeMutableRawPointer?
    let site: SourceLocation
  }

  fileprivate let observableClass: any KeyValueObservable.Type
  fileprivate let entries: [Entry]

  fileprivate init(_ observableClass: any KeyValueObservable.Type, _ entries: [Entry]) {
    self.observableClass = observableClass
    self.entries = entries
  }
}

extension KeyValueObservable {
  /// Registers the observers of a snapshot with the object in place of those of its previous snapshot; `nil` only removes them.
  ///
  /// Order, delivery and threads are the same as for observers that are added one by one in the order of the snapshot. Other
  /// observers of the object are not affected. A snapshot of another class is fault KVO0026 and changes nothing. If two threads set
  /// the shared observers of one object at the same time, the observers of one of the snapshots remain.
  public nonisolated func setSharedObservers(
    _ snapshot: NSKeyValueSharedObserversSnapshot?, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let object = adoptedObject
    let site = SourceLocation(file: fileID, line: line)
    guard let snapshot else {
      SharedRegistration.replace(of: object, by: nil)?.cancel(site)
      return
    }
    guard isInstance(of: snapshot.observableClass) else {
      let expected = _typeName(snapshot.observableClass, qualified: false)
      let given = _typeName(Swift.type(of: self), qualified: false)
      return raiseFault(
        KVO_FAULT_TYPE_MISMATCH, "shared observers for objects of \(expected) were given to one of \(given)", site: site
      )
    }
    let registration = SharedRegistration(object)
    SharedRegistration.replace(of: object, by: registration)?.cancel(site)
    for entry in snapshot.entries {
      guard let observer = entry.observer else { continue }
      let classic = ClassicObservation(
        observer: observer, object: self, keyPath: entry.key, context: entry.context, options: entry.options,
        site: entry.site, evaluating: nil, shared: registration)
      registration.add(classic.register(with: object, key: entry.hash, endsWithObject: true))
    }
  }

  private nonisolated func isInstance<Base: KeyValueObservable>(of type: Base.Type) -> Bool { self is Base }
}

/// The shared observers of one object. Its registrations retain it, so it is released with the last of them.
final class SharedRegistration: @unchecked Sendable {
  /// A class: Swift 6.3 copies a structure of an identity and a weak reference wrongly.
  private final class Reference: @unchecked Sendable {
    let identity: ObjectIdentifier
    weak var registration: SharedRegistration?

    init(_ registration: SharedRegistration) {
      identity = ObjectIdentifier(registration)
      self.registration = registration
    }
  }

  private static let all = Guarded<[KeyValueObjectReference: Reference]>([:])
  private let object: KeyValueObjectReference
  /// `nil` after it was replaced.
  private let observations = Guarded<[kvo_observation]?>([])

  init(_ object: KeyValueObjectReference) { self.object = object }

  deinit {
    let identity = ObjectIdentifier(self)
    Self.all.withLock { all in
      // Another one may have taken its place, also for a new object at the same address. It is not loaded: its last other reference may
      // be released meanwhile, and its deinit takes this lock.
      if all[object]?.identity == identity { all[object] = nil }
    }
  }

  /// Sets the registration of an object, and returns the previous one if it still exists.
  static func replace(of object: KeyValueObjectReference, by registration: SharedRegistration?) -> SharedRegistration? {
    all.withLock { all in
      let former = all[object]?.registration
      all[object] = registration.map { Reference($0) }
      return former
    }
  }

  /// Adds an observation, or cancels it if another thread has replaced this registration in the meantime.
  func add(_ observation: kvo_observation) {
    let isCancelled = observations.withLock { observations in
      observations?.append(observation)
      return observations == nil
    }
    if isCancelled { kvo_cancel_observer(observation) }
  }

  func cancel(_ site: SourceLocation) {
    let observations = observations.withLock { observations in
      defer { observations = nil }
      return observations ?? []
    }
    for observation in observations { kvo_cancel_observer_at(observation, site.cFile, site.cLine) }
  }
}
