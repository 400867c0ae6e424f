// Which bindings there are, by the property that they set.

import CKVO

/// The bindings of the process, by target.
@usableFromInline
enum BindingTable {
  fileprivate struct Entry {
    let key: String
    let from: [SourceOrigin]
    /// For a binding made with Cocoa's verbs.
    let info: CocoaInfo?
    let token: NSKeyValueObservation
  }

  /// By the address of the target, and by a number, which is greater for later ones. The two directions of a binding share a token.
  private struct Entries {
    var of: [UnsafeRawPointer: [Int: Entry]] = [:]
    var number = 0
  }

  private static let all = Guarded(Entries())

  /// Adds a binding that is about to be registered, until it ends: it may be ended while it sets its target for the first time.
  @usableFromInline
  static func add(_ token: NSKeyValueObservation, _ target: SourceOrigin, from: [SourceOrigin]) {
    add(token, target, from: from, info: nil)
  }

  static func add(_ token: NSKeyValueObservation, _ target: SourceOrigin, from: [SourceOrigin], info: CocoaInfo?) {
    guard let object = target.object else { return }
    nonisolated(unsafe) let address = object
    let number = all.withLock { all in
      all.number += 1
      all.of[object, default: [:]][all.number] = Entry(key: target.key, from: from, info: info, token: token)
      return all.number
    }
    token.onEnd { _ in remove(number, of: address) }
  }

  private static func remove(_ number: Int, of target: UnsafeRawPointer) {
    // It is released when the lock is free.
    let removed = all.withLock { all in
      let removed = all.of[target]?.removeValue(forKey: number)
      if all.of[target]?.isEmpty == true { all.of[target] = nil }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Takes out the bindings of a target that a condition holds for, oldest first.
  private static func take(of target: UnsafeRawPointer, _ isTaken: (Entry) -> Bool) -> [Entry] {
    all.withLock { all in
      guard let entries = all.of[target] else { return [] }
      let staying = entries.filter { !isTaken($0.value) }
      all.of[target] = staying.isEmpty ? nil : staying
      return entries.filter { isTaken($0.value) }.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// Ends the bindings into a property, and returns how many there were.
  static func end(_ target: SourceOrigin, where isEnded: ([SourceOrigin]) -> Bool = { _ in true }) -> Int {
    guard let object = target.object else { return 0 }
    let ended = take(of: object) { $0.key == target.key && isEnded($0.from) }
    for entry in ended { entry.token.invalidate() }
    return ended.count
  }

  /// Ends the binding into a property that was made with Cocoa's verbs.
  static func endCocoa(_ target: SourceOrigin) {
    guard let object = target.object else { return }
    for entry in take(of: object, { $0.key == target.key && $0.info != nil }) { entry.token.invalidate() }
  }

  /// Returns what is known about the binding into a property that was made with Cocoa's verbs.
  static func info(of target: SourceOrigin) -> CocoaInfo? {
    guard let object = target.object else { return nil }
    return all.withLock { $0.of[object]?.values.first { $0.key == target.key && $0.info != nil }?.info }
  }

  /// Ends all bindings into the properties of an object.
  static func end(allOf target: AnyObject) {
    for entry in take(of: ObserverIdentity(target).address, { _ in true }) { entry.token.invalidate() }
  }

  /// Ends the bindings into a property because a new one replaces them.
  @usableFromInline
  static func replace(_ target: SourceOrigin, by from: [SourceOrigin], _ site: SourceLocation) {
    guard let object = target.object else { return }
    for entry in take(of: object, { $0.key == target.key }) {
      entry.token.invalidate()
      raiseFault(
        KVO_FAULT_DUPLICATE,
        "the exclusive binding of \(target.text) to \(from.text) replaces the one to \(entry.from.text)",
        help: "does the code that binds run twice? Unbind the property first, or bind without exclusive: true",
        site: site)
    }
  }
}

extension KeyValueObservable {
  /// Ends all bindings that set a property of this object, and the two-way bindings in which it takes part.
  ///
  /// ```swift
  /// window.unbind(\.caption)
  /// ```
  /// Does nothing if there is none. After it returns, the property is not set by them again; a call that has begun on another thread may
  /// still finish. (YJSafeKVO: `cutOff`)
  ///
  /// - Parameter keyPath: The property.
  public nonisolated func unbind<Value>(_ keyPath: KeyPath<Self, Value>) {
    _ = BindingTable.end(SourceOrigin(self, name(ofObserved: keyPath)))
  }

  /// Ends the bindings of a property of this object to a property of another one.
  ///
  /// ```swift
  /// window.unbind(\.caption, from: document, \.title)
  /// ```
  /// A binding is one to a property, whatever operators are between them, if its source observes that property. Does nothing if there is
  /// none.
  public nonisolated func unbind<Value, Source: KeyValueObservable, Origin>(
    _ keyPath: KeyPath<Self, Value>, from source: Source, _ origin: KeyPath<Source, Origin>
  ) {
    let origin = SourceOrigin(source, source.name(ofObserved: origin))
    _ = BindingTable.end(SourceOrigin(self, name(ofObserved: keyPath))) { $0.contains(origin) }
  }

  /// Ends all bindings that set properties of this object, Cocoa's included, and the two-way bindings in which they take part.
  public nonisolated func unbindAll() { BindingTable.end(allOf: self) }
}
