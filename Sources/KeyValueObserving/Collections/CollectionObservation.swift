// Observation with the option `.collectionChanges`.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Implements `observe` for the option `.collectionChanges`.
  @usableFromInline
  nonisolated func observeCollection<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    var base = options.subtracting(.collectionChanges)
    guard Value.self is any _KeyValueCollection.Type else {
      return observe(keyPath, options: base, fileID: site.file, line: site.line, changeHandler: changeHandler)
    }
    // The follower reads the new value and knows the old one. Only the prior notification takes the old value from the frame.
    base.remove(.new)
    if !options.contains(.prior) { base.remove(.old) }
    let follower = CollectionFollower(knowing: options.contains(.initial) ? nil : .some(self[keyPath: keyPath]))
    let path = ExpressionPath(keyPath)
    let handler: @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void = { object, change in
      if change.isPrior { return changeHandler(object, change) }
      let announced = change.kind == .setting ? nil : (change.kind, change.indexes)
      follower.changed(announced: announced) {
        path.read(object)
      } deliver: { kind, indexes, old, new in
        changeHandler(
          object,
          NSKeyValueObservedChange(
            kind: kind, newValue: options.contains(.new) ? new.flatMap(typed) : nil,
            oldValue: options.contains(.old) ? old.flatMap(typed) : nil, indexes: indexes))
      }
    }
    let token =
      directProperty(at: keyPath) == nil
      ? observe(path, base, site, handler)
      : observe(keyPath, options: base, fileID: site.file, line: site.line, changeHandler: handler)
    follower.follow(token.observation)
    return token
  }
}

/// Returns a value without its optionals as its original type; the outer optional is `nil` if it has another type.
private func typed<Value>(_ value: Any?) -> Value? { value as? Value }
