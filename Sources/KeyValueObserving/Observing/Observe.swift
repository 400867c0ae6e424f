// Observing with a typed key path and a closure.

public import CKVO
public import Foundation

extension KeyValueObservable {
  /// Observes a property, a nested key path such as `\.author?.name`, or a computed property.
  ///
  /// - Parameters:
  ///   - keyPath: What to observe. Of a stored property each set is a change, also to an equal value, unless the class says that
  ///     the key is announced by hand. Any other expression is evaluated while the runtime records what it reads; a change of anything that it read is a change. An object on the way
  ///     that is replaced, set to `nil` or dies counts as one. An expression that reads nothing observable can never notify:
  ///     KVO0011, reported and otherwise harmless.
  ///   - options: Which values a change carries, and whether the handler is called at once (`.initial`) and before changes
  ///     (`.prior`).
  ///   - changeHandler: Called on the thread that makes the change, before the setter returns, with no lock held. Observers are
  ///     called newest first, before a change oldest first.
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or the object dies. Neither the
  ///   observation nor the token keeps the object alive.
  @inlinable
  @preconcurrency
  public nonisolated func observe<Value>(
    _ keyPath: KeyPath<Self, Value>,
    options: NSKeyValueObservingOptions = [],
    fileID: StaticString = #fileID,
    line: UInt = #line,
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let site = ObservationSite(file: fileID, line: line)
    guard let property = storedProperty(at: keyPath) else {
      return observe(expression: keyPath, options: options, site: site, changeHandler: changeHandler)
    }
    // The closure is made here, where the types are known, so that it is specialised for the caller.
    let offset = UnsafeRawPointer(__keyValueObject) - UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return observe(property, options: options, site: site) { change in
      // Whoever sets the object holds it.
      let instance = UnsafeRawPointer(change.pointee.object) - offset
      Unmanaged<Self>.fromOpaque(instance)._withUnsafeGuaranteedRef { changeHandler($0, .init(__raw: change)) }
    }
  }

  /// The stored property that a key path names, if it is one's own key path and nothing else is declared to affect it.
  @usableFromInline
  nonisolated func storedProperty(at keyPath: AnyKeyPath) -> KeyValueProperty? {
    guard let property = KeyValueClass.of(type: Self.self).property(at: keyPath), property.isDirect,
      !KeyValueClass.of(self).isAffected(property.key)
    else { return nil }
    return property
  }

  @usableFromInline
  nonisolated func observe(
    _ property: KeyValueProperty, options: NSKeyValueObservingOptions, site: ObservationSite,
    deliver: @escaping (UnsafePointer<kvo_raw_change>) -> Void
  ) -> NSKeyValueObservation {
    NSKeyValueObservation(
      ObservationBox(deliver: deliver).register(
        with: adoptedObject, key: property.key, keyPath: property.name,
        options: kvo_options(options, endsWithObject: true), site: site))
  }

  /// Observes anything but a stored property: by evaluating it.
  @usableFromInline
  nonisolated func observe<Value>(
    expression keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions, site: ObservationSite,
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let name = KeyValueClass.of(type: Self.self).property(at: keyPath)?.name
    let box = ObservationBox(
      deliver: { [weak self] change in
        if let self { changeHandler(self, .init(__raw: change)) }
      },
      evaluate: { [weak self] in
        guard let self else { return nil }
        if let name { recordDependencies(ofKey: name) }
        return .__copy(self[keyPath: keyPath], as: Value.self)
      },
      release: { $0.__release(as: Value.self) })
    return NSKeyValueObservation(
      box.register(
        with: adoptedObject, key: nil, keyPath: name ?? "\(keyPath)",
        options: kvo_options(options, endsWithObject: true), site: site, keepsLast: !isReference(Value.self)))
  }
}

extension kvo_options {
  init(_ options: NSKeyValueObservingOptions, endsWithObject: Bool) {
    let ends = endsWithObject ? KVO_ENDS_WITH_OBJECT.rawValue : 0
    self.init(rawValue: UInt32(truncatingIfNeeded: options.rawValue & 15) | ends)
  }
}

extension NSKeyValueObservedChange {
  /// Reads a record whose values are of this type.
  @inlinable
  @inline(__always)
  init(__raw change: UnsafePointer<kvo_raw_change>) {
    let raw = change.pointee
    self.init(
      kind: Kind(rawValue: UInt(raw.kind.rawValue)) ?? .setting,
      newValue: raw.new_value?.assumingMemoryBound(to: Value.self).pointee,
      oldValue: raw.old_value?.assumingMemoryBound(to: Value.self).pointee,
      indexes: raw.indexes == nil ? nil : IndexSet(__positions: raw.indexes, count: raw.index_count),
      isPrior: raw.is_prior)
  }
}

extension UnsafeMutableRawPointer {
  /// New storage that holds a value; end it with `__release(as:)`.
  ///
  /// The type is named at both ends: of an `Any`, Swift would otherwise open what is inside and store that.
  @inlinable
  static func __copy<Value>(_ value: Value, as type: Value.Type) -> UnsafeMutableRawPointer {
    let storage = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    storage.initialize(to: value)
    return UnsafeMutableRawPointer(storage)
  }

  @usableFromInline
  func __release<Value>(as type: Value.Type) {
    let storage = assumingMemoryBound(to: type)
    storage.deinitialize(count: 1)
    storage.deallocate()
  }
}

/// Tells whether values of a type are references: to keep one would keep an object alive.
func isReference(_ type: Any.Type) -> Bool {
  if let optional = type as? any OptionalProtocol.Type { return isReference(optional.wrappedType) }
  return type is AnyObject.Type
}
