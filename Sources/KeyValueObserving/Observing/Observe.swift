// Observation with a typed key path and a closure.

public import CKVO
public import Foundation

extension KeyValueObservable {
  /// Observes a property, a nested key path such as `\.author?.name`, or a computed property.
  ///
  /// ```swift
  /// let token = document.observe(\.title, options: [.old, .new]) { document, change in
  ///   print(change.oldValue!, "->", change.newValue!)
  /// }
  /// document.title = "Hello"  // prints: Untitled -> Hello
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: What to observe. For a stored property each set is a change, also to an equal value, unless the class declares
  ///     that the key is announced manually. Any other expression is evaluated while the runtime records what it reads, and it
  ///     changes when anything that it has read changes. Replacing an object on the path, setting it to `nil`, and its deallocation
  ///     are changes too. An expression that reads nothing observable can never notify: that is reported as KVO0011 and has no
  ///     other effect. If an array index of the path is out of range after a change, as in `\.items[1].name`, the expression has no
  ///     value: the old or new value is then `nil`. If it is out of range at the call, the call traps, as reading the key path
  ///     does. `Porting.md` lists the forms of such a path that trap also later. Nor does the expression have a value while what a
  ///     `!` or an implicitly unwrapped property of it unwraps is `nil`.
  ///   - options: Which values a change includes, and whether the handler is also called immediately (`.initial`) and before
  ///     changes (`.prior`).
  ///   - changeHandler: The closure to call, on the thread that makes the change, before the setter returns, with no lock held.
  ///     Observers are called newest first; before a change, oldest first.
  /// - Returns: The token. The observation lasts until the token is invalidated or released, or the object is deallocated. Neither
  ///   the observation nor the token keeps the object alive.
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
    if options.contains(.collectionChanges) { return keepCollection(keyPath, options, site, changeHandler) }
    return NSKeyValueObservation(observe(keyPath, options, site, nil, changeHandler))
  }

  /// Registers a closure, on behalf of an observer if there is one. Returns 0 on failure.
  ///
  /// - Parameter path: The key path of an expression, if the caller reads its value too. What the evaluations show about it, such as an
  ///   array index that may become out of range, counts then for the caller's reads.
  @inlinable
  nonisolated func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, sharing path: ExpressionPath<Self, Value>? = nil,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> UInt64 {
    if options.rawValue > NSKeyValueObservingOptions.mostOfApple {
      return observeExtended(keyPath, options, site, observer, path, changeHandler)
    }
    guard let property = directProperty(at: keyPath) else {
      return observe(path ?? ExpressionPath(keyPath), options, site, observer, changeHandler)
    }
    let closure = DirectClosure(changeHandler) { (change, handler: (Self, NSKeyValueObservedChange<Value>) -> Void) in
      // Whoever sets the object holds it.
      let object = Unmanaged<Self>.fromOpaque(change.pointee.instance)
      // Twice, so that the usual case has no index set to make and to destroy.
      if change.pointee.kind == KVO_CHANGE_SETTING {
        object._withUnsafeGuaranteedRef { handler($0, NSKeyValueObservedChange(__setting: change)) }
      } else {
        object._withUnsafeGuaranteedRef { handler($0, NSKeyValueObservedChange(__raw: change)) }
      }
    }
    return property._withUnsafeGuaranteedRef { observe($0, closure, options, site, observer) }
  }

  @usableFromInline
  nonisolated func observe(
    _ property: KeyValueProperty, _ closure: DirectClosure, _ options: NSKeyValueObservingOptions,
    _ site: SourceLocation, _ observer: ObserverDescription?
  ) -> UInt64 {
    if !property.isStored { reportSilence(of: property.name, site) }
    return closure.register(
      with: adoptedObject, property, kvo_options(options, endsWithObject: true), site, observer)
  }

  @inlinable
  nonisolated func observe<Value>(
    _ path: ExpressionPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> UInt64 {
    let box = ExpressionBox<Self, Value>(self, path, options, changeHandler) { box, change in
      let box = unsafeDowncast(box, to: ExpressionBox<Self, Value>.self)
      guard let object = box.object.load() else { return }
      if change.pointee.property != nil {
        box.handler(object, box.changeOfLeaf(change))
      } else {
        box.handler(object, NSKeyValueObservedChange(__raw: change))
      }
    }
    return observe(box, options, site, observer)
  }

  @usableFromInline
  nonisolated func observe<Value>(
    _ box: ExpressionBox<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?
  ) -> UInt64 {
    box.register(with: self, options, site, observer)
  }

  /// Implements the options that Apple does not have.
  @usableFromInline
  nonisolated func observeExtended<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, _ path: ExpressionPath<Self, Value>?,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> UInt64 {
    if !options.isDisjoint(with: .ends) {
      // A closure's observation always ends with its object, and with its receiver.
      guard !options.contains(.endsWithObserver) || observer?.identity != nil else {
        raiseRefusedOptions(name(ofObserved: keyPath), ".endsWithObserver: the closure has no receiver", site)
        return 0
      }
      return observe(keyPath, options.subtracting(.ends), site, observer, sharing: path, changeHandler)
    }
    if options.contains(.distinct) {
      return observeDistinct(keyPath, options, site, observer, path, changeHandler)
    }
    if options.contains(.whole) {
      return unrecorded { observeWhole(keyPath, options, site, observer, path, changeHandler) }
    }
    guard options.contains(.collectionChanges) else {
      let known = NSKeyValueObservingOptions(rawValue: options.rawValue & NSKeyValueObservingOptions.mostOfApple)
      return observe(keyPath, known, site, observer, sharing: path, changeHandler)
    }
    return unrecorded { observeCollection(keyPath, options, site, observer, path, changeHandler) }
  }
}

/// Registers an observer, which a getter may do: what is read for that is not what the getter's value depends on.
@usableFromInline
func unrecorded<Result>(_ register: () -> Result) -> Result {
  guard kvo_track_is_recording() else { return register() }
  let paused = kvo_track_pause()
  defer { kvo_track_resume(paused) }
  return register()
}

extension kvo_options {
  init(_ options: NSKeyValueObservingOptions, endsWithObject: Bool) {
    let ends = endsWithObject ? KVO_ENDS_WITH_OBJECT.rawValue : 0
    self.init(rawValue: UInt32(truncatingIfNeeded: options.rawValue & 15) | ends)
  }
}

extension NSKeyValueObservedChange {
  /// Reads a record of a change of the whole value. The values in the record are of type `Value`.
  @inlinable
  @inline(__always)
  init(__setting raw: UnsafePointer<kvo_raw_change>) {
    // Member by member: the record was written the same way just before, and copying it as a whole would stall until the stores are
    // done.
    self.init(
      kind: .setting, newValue: raw.pointee.new_value?.assumingMemoryBound(to: Value.self).pointee,
      oldValue: raw.pointee.old_value?.assumingMemoryBound(to: Value.self).pointee, isPrior: raw.pointee.is_prior)
  }

  /// Reads a record whose values are of type `Value`.
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
  /// Returns new storage that holds a value; free it with `__release(as:)`.
  ///
  /// The type is a parameter of both functions: otherwise Swift would open an `Any` and store the value inside it.
  @inlinable
  static func __copy<Value>(_ value: Value, as type: Value.Type) -> UnsafeMutableRawPointer {
    // Swift asks for the alignment of each allocation, for which the C library takes three times as long.
    let (size, alignment) = (max(MemoryLayout<Value>.size, 1), MemoryLayout<Value>.alignment)
    let storage = alignment <= 16 ? malloc(size)! : .allocate(byteCount: size, alignment: alignment)
    storage.initializeMemory(as: Value.self, to: value)
    return storage
  }

  @inlinable
  func __release<Value>(as type: Value.Type) {
    let storage = assumingMemoryBound(to: type)
    storage.deinitialize(count: 1)
    if MemoryLayout<Value>.alignment <= 16 { free(self) } else { deallocate() }
  }
}
