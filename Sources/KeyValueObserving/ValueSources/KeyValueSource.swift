// A source: a value that changes, described.

public import CKVO

/// A description of a value that changes: an observable object with a key path, or any expression.
///
/// ```swift
/// let title = document.source(\.title)
/// let both = KeyValueSource { "\(first.name) & \(second.name)" }
/// let shown = title.filter { !$0.isEmpty }.map { $0.uppercased() }.removeDuplicates()
/// shown.observe(options: [.initial, .new], for: self) { me, change in me.label.text = change.newValue ?? "" }
/// ```
/// A source is a value: it can be stored, passed on, and used several times. To make one observes nothing. The source of an object holds
/// the object weakly; once it is deallocated, nothing can be observed. The source of an expression holds what its closure captures. An
/// observation of a source ends with its object; one of several sources ends with the last of their objects.
///
/// The operators ``map(_:)``, ``compactMap(_:)``, ``filter(_:)``, ``removeDuplicates()``, ``combineLatest(_:transform:)`` and
/// ``merge(_:)`` make a source from others. They are called on the thread that makes the change, before its setter returns, or on the
/// actor of an expression, and so their closures are `Sendable`. They pass on the old value as well as the new one: the old value of a
/// change is the new value of the change before it. What takes time, such as a delay, is left to
/// ``values(options:buffering:isolation:fileID:line:)``.
///
/// An addition of this library. YJSafeKVO calls the pair of an object and a key path PACK.
@frozen
public struct KeyValueSource<Value> {
  /// Registers an observer, and returns the runtime's IDs of its observations: none on failure.
  @usableFromInline let subscribe: (SourceRequest, @escaping (NSKeyValueObservedChange<Value>) -> Void) -> [UInt64]
  /// For a property: registers what gets the records of its changes, in one call less. It returns `nil` if the property is not stored.
  @usableFromInline
  let subscribeDirectly: ((SourceRequest, @escaping (UnsafePointer<kvo_raw_change>) -> Void) -> UInt64?)?
  /// Returns the present value, if there is one. Of merged sources it is that of the first one that has a value.
  @usableFromInline let read: () -> Value?
  /// What the source observes, for reports and to end a binding from it.
  @usableFromInline let origins: () -> [SourceOrigin]
  /// Whether it is the source of a key path, and so implements every option of an observation.
  @usableFromInline let isOfKeyPath: Bool

  @inlinable
  init(
    of origins: @escaping () -> [SourceOrigin], read: @escaping () -> Value?,
    directly: ((SourceRequest, @escaping (UnsafePointer<kvo_raw_change>) -> Void) -> UInt64?)? = nil,
    isOfKeyPath: Bool = false,
    subscribe: @escaping (SourceRequest, @escaping (NSKeyValueObservedChange<Value>) -> Void) -> [UInt64]
  ) {
    self.subscribe = subscribe
    subscribeDirectly = directly
    self.isOfKeyPath = isOfKeyPath
    self.read = read
    self.origins = origins
  }

  /// The present value.
  ///
  /// It is `nil` if an object has been deallocated, the value is filtered out, or a string key path has no value of the source's type: only
  /// to observe that is a fault. Of merged sources it is that of the first one that has a value. Reading it within an expression makes the
  /// expression depend on it.
  @inlinable public var value: Value? { read() }
}

/// What an observation of a source needs.
@usableFromInline
@frozen
struct SourceRequest {
  @usableFromInline var options: NSKeyValueObservingOptions
  @usableFromInline let site: SourceLocation
  @usableFromInline var description: ObserverDescription

  @inlinable
  init(_ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ description: ObserverDescription) {
    self.options = options
    self.site = site
    self.description = description
  }

  /// Returns the request of an operator to the source before it. Operators need whole values.
  @inlinable
  func with(_ needed: NSKeyValueObservingOptions, of type: Any.Type) -> SourceRequest {
    var request = self
    request.options = needed.union(options.intersection([.initial, .initialOfFirst])).union(.whole(ifNeededFor: type))
    return request
  }

  /// Returns the request of a binding that sends a signal, for the same observer.
  func setting(_ signal: AnyObject, _ key: String) -> SourceRequest {
    SourceRequest(options, site, description.setting(BoundKey(signal, key)))
  }

  @inlinable var wantsOld: Bool { options.contains(.old) }
  @inlinable var isInitial: Bool { options.contains(.initial) }
}

extension KeyValueObservable {
  /// Returns the source of a property or key path of this object, which the source does not retain.
  ///
  /// ```swift
  /// let title = document.source(\.title)
  /// ```
  /// - Parameter keyPath: What to observe, as in ``observe(_:options:fileID:line:changeHandler:)``.
  @inlinable
  public nonisolated func source<Value>(_ keyPath: KeyPath<Self, Value>) -> KeyValueSource<Value> {
    let reference = UnretainedObject(self)
    let path = directProperty(at: keyPath) == nil ? ExpressionPath(keyPath) : nil
    return KeyValueSource(
      of: { reference.load().map { [SourceOrigin($0, $0.name(ofObserved: keyPath))] } ?? [] },
      read: { reference.load().flatMap { path == nil ? $0[keyPath: keyPath] : path!.read($0) } },
      directly: { request, deliver in
        guard let object = reference.load(), let property = object.directProperty(at: keyPath) else { return nil }
        let closure = DirectClosure(deliver)
        return property._withUnsafeGuaranteedRef {
          object.observe($0, closure, request.options, request.site, request.description)
        }
      }, isOfKeyPath: true,
      subscribe: { request, sink in
        guard let object = reference.load() else { return [] }
        let observation = object.observe(
          keyPath, request.options, request.site, request.description, sharing: path
        ) { _, change in sink(change) }
        return observation == 0 ? [] : [observation]
      })
  }
}

/// What a source observes.
@usableFromInline
struct SourceOrigin: Equatable {
  /// The object's address, or `nil` for an expression.
  let object: UnsafeRawPointer?
  let key: String
  let text: String

  @usableFromInline
  init(_ object: AnyObject, _ key: String) {
    let identity = ObserverIdentity(object)
    self.object = identity.address
    self.key = key
    text = "\"\(key)\" of \(identity.className)@\(identity.addressText)"
  }

  init(expression text: String) { (object, key, self.text) = (nil, "", text) }
}

extension [SourceOrigin] {
  var text: String { isEmpty ? "a deallocated object" : map(\.text).joined(separator: ", ") }
}
