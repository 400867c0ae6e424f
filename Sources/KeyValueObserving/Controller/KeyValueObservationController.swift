// A controller of the observations of one observer, as FBKVOController is.

import CKVO

/// Makes and ends the observations of one observer.
///
/// ```swift
/// final class Panel {
///   var caption = ""
///   lazy var observations = KeyValueObservationController(observer: self)
///
///   func show(_ document: Document) {
///     observations.unobserveAll()
///     observations.observe(document, \.title, options: [.initial, .new]) { me, document, change in
///       me.caption = change.newValue ?? ""
///     }
///     observations.observe(document, \.pages) { me, _, _ in me.pagesChanged() }
///   }
///
///   func pagesChanged() { print("pages") }
/// }
/// ```
/// Each of its observations is one for the observer as receiver, as
/// ``KeyValueObservable/observe(_:options:for:userInfo:isolation:fileID:line:handler:)`` makes it: the observer is held weakly and passed
/// to the handler, and the isolation is that of the caller. It ends when it is unobserved, or when the controller, the observer or the
/// object is deallocated, whichever comes first; none of these is an error. What is observed with a typed key path may be unobserved by
/// its name, and the reverse.
///
/// An addition of this library, known as FBKVOController. There the second observation of a key path of an object is dropped; here it
/// is one of its own, unless ``Duplicates`` says otherwise. There the observed objects are retained unless the program says
/// otherwise, here only if it says so.
///
/// The methods may be called on any thread, and in handlers, also in that of an initial notification. A controller is `Sendable` if its
/// observer is.
public final class KeyValueObservationController<Observer: AnyObject> {
  /// What the controller does if it already observes a key path of an object.
  public enum Duplicates: Sendable {
    /// Both observations are notified.
    case each
    /// The new observation replaces the earlier ones.
    case replace
    /// As `each`, and fault KVO0019 says so: an info, for fault handlers, and written if `KVO_POLICY` requests it.
    case report
  }

  let observer: UnretainedObject<Observer>
  private let identity: ObserverIdentity
  private let retainsObserved: Bool
  private let duplicates: Duplicates
  private let observations = Guarded(ControlledObservations())

  /// Creates a controller without observations.
  ///
  /// - Parameters:
  ///   - observer: Any class instance. It is not retained, and usually holds the controller.
  ///   - retainsObserved: Whether observed objects are retained until they are unobserved or the controller is deallocated. An observer
  ///     that holds the controller and observes itself is then never deallocated.
  ///   - duplicates: What to do if a key path of an object is observed again. Each method that observes may say otherwise.
  public init(observer: Observer, retainsObserved: Bool = false, duplicates: Duplicates = .each) {
    self.observer = UnretainedObject(observer)
    identity = ObserverIdentity(observer)
    self.retainsObserved = retainsObserved
    self.duplicates = duplicates
  }

  deinit { unobserveAll() }

  /// Registers an observation.
  ///
  /// - Parameter register: Registers it for the observer. What it registers has to notify nobody once the observation has ended.
  func add<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, _ options: NSKeyValueObservingOptions, _ duplicates: Duplicates?,
    _ site: SourceLocation, register: (Observer, ControlledObservation) -> NSKeyValueObservation
  ) {
    guard let observer = observer.load() else { return }
    let added = ControlledObservation(object, keyPath, options, site, retains: retainsObserved)
    let policy = duplicates ?? self.duplicates
    let (earlier, unused) = observations.withLock { $0.add(added, replacing: policy == .replace) }
    if let earlier, policy == .report { raiseDuplicate(earlier, site) }
    unused.invalidate()
    let token = register(observer, added)
    // It may have been unobserved meanwhile: by another thread, or in the callback of its initial notification.
    let isWanted = observations.withLock { _ in added.follow(token) }
    if !isWanted { token.invalidate() }
  }

  private func raiseDuplicate(_ earlier: ControlledObservation, _ site: SourceLocation) {
    raiseFault(
      KVO_FAULT_DUPLICATE,
      "the controller of \(identity.className)@\(identity.addressText) already observes \(earlier.text): each change will "
        + "notify it twice",
      help: "does the code that observes run twice? Unobserve the object first, or use duplicates: .replace", site: site
    )
  }

  private func end(of object: AnyObject? = nil, _ keyPath: String? = nil) {
    let address = object.map { ObserverIdentity($0).address }
    observations.withLock { $0.take(of: address, keyPath) }.invalidate()
  }

  /// Ends the observations of a key path of an object that this controller has made.
  ///
  /// Does nothing if there is none. After it returns, no new call of their handlers begins.
  public func unobserve<Object: KeyValueObservable, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    unobserve(object, object.name(ofObserved: keyPath))
  }

  /// Ends the observations of a string key path of an object that this controller has made.
  ///
  /// Does nothing if there is none. After it returns, no new call of their handlers begins.
  public func unobserve(_ object: some KeyValueObservable, _ keyPath: String) {
    end(of: object, keyPath)
  }

  /// Ends all observations of an object that this controller has made.
  ///
  /// Does nothing if there is none. After it returns, no new call of their handlers begins.
  public func unobserve(_ object: some KeyValueObservable) { end(of: object) }

  /// Ends all observations that this controller has made.
  ///
  /// Does nothing if there is none. After it returns, no new call of their handlers begins. The controller can observe again.
  public func unobserveAll() { end() }
}

extension KeyValueObservationController: @unchecked Sendable where Observer: Sendable {}

extension KeyValueObservationController: CustomDebugStringConvertible {
  /// A list of the observations, one a line: the object, the key path, the options, and where it was observed.
  public var debugDescription: String {
    let active = observations.withLock { $0.active }
    let name = "the controller of \(identity.className)@\(identity.addressText)"
    if active.isEmpty { return "\(name) observes nothing" }
    return (["\(name) observes:"] + active.map { "  \($0.text)" }).joined(separator: "\n")
  }
}
