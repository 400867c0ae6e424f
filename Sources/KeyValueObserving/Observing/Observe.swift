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
  ///     KVO0011, reported and otherwise harmless. Behind a position that an array does not have any more, as in `\.items[1].name`, there is
  ///     no value: old or new are then `nil`. A position that is outside at the call traps, as reading it does.
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
    let site = SourceLocation(file: fileID, line: line)
    if options.contains(.collectionChanges) {
      return observeCollection(keyPath, options, site, changeHandler)
    }
    guard let property = directProperty(at: keyPath) else {
      return observe(ExpressionPath(keyPath), options, site, changeHandler)
    }
    let box = HandlerBox<Self, Value>(changeHandler) { box, change in
      let box = unsafeDowncast(box, to: HandlerBox<Self, Value>.self)
      // Whoever sets the object holds it.
      let object = Unmanaged<Self>.fromOpaque(change.pointee.instance)
      // Twice, so that the usual case has no index set to make and to destroy.
      if change.pointee.kind == KVO_CHANGE_SETTING {
        object._withUnsafeGuaranteedRef { box.handler($0, NSKeyValueObservedChange(__setting: change)) }
      } else {
        object._withUnsafeGuaranteedRef { box.handler($0, NSKeyValueObservedChange(__raw: change)) }
      }
    }
    return observe(property, box, options, site)
  }

  @usableFromInline
  nonisolated func observe(
    _ property: KeyValueProperty, _ box: ObservationBox, _ options: NSKeyValueObservingOptions, _ site: SourceLocation
  ) -> NSKeyValueObservation {
    if property.isConstant { reportSilence(of: property.name, site) }
    return NSKeyValueObservation(
      box.register(
        with: adoptedObject, key: property.key, keyPath: property.cName,
        options: kvo_options(options, endsWithObject: true), site: site))
  }

  @inlinable
  nonisolated func observe<Value>(
    _ path: ExpressionPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let box = ExpressionBox<Self, Value>(self, path, options, changeHandler) { box, change in
      let box = unsafeDowncast(box, to: ExpressionBox<Self, Value>.self)
      guard let object = box.object.load() else { return }
      if change.pointee.property != nil {
        box.handler(object, box.changeOfLeaf(change))
      } else {
        box.handler(object, NSKeyValueObservedChange(__raw: change))
      }
    }
    return observe(box, options, site)
  }

  @usableFromInline
  nonisolated func observe<Value>(
    _ box: ExpressionBox<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation
  ) -> NSKeyValueObservation {
    box.register(with: self, options, site)
  }
}

extension kvo_options {
  init(_ options: NSKeyValueObservingOptions, endsWithObject: Bool) {
    let ends = endsWithObject ? KVO_ENDS_WITH_OBJECT.rawValue : 0
    self.init(rawValue: UInt32(truncatingIfNeeded: options.rawValue & 15) | ends)
  }
}

extension NSKeyValueObservedChange {
  /// Reads a record of a change of the whole value, whose values are of this type.
  @inlinable
  @inline(__always)
  init(__setting raw: UnsafePointer<kvo_raw_change>) {
    // Member by member: the record was just written so, and to copy it whole would wait for the stores.
    self.init(
      kind: .setting, newValue: raw.pointee.new_value?.assumingMemoryBound(to: Value.self).pointee,
      oldValue: raw.pointee.old_value?.assumingMemoryBound(to: Value.self).pointee, isPrior: raw.pointee.is_prior)
  }

  /// Reads a record whose values are of this type.
  @inlinable
  @inline(__always)
  init(__raw raw: UnsafePointer<kvo_raw_change>) {
    self.init(
      kind: Kind(rawValue: UInt(raw.pointee.kind.rawValue)) ?? .setting,
      newValue: raw.pointee.new_value?.assumingMemoryBound(to: Value.self).pointee,
      oldValue: raw.pointee.old_value?.assumingMemoryBound(to: Value.self).pointee,
      indexes: raw.pointee.indexes.flatMap { IndexSet(__positions: $0, count: raw.pointee.index_count) },
      isPrior: raw.pointee.is_prior)
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
