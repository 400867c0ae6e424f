// Observing with the option `.collectionChanges`.

import CKVO
import Foundation

extension KeyValueObservable {
  /// `observe` with the option `.collectionChanges`.
  @usableFromInline
  nonisolated func observeCollection<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: ObservationSite,
    _ changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    var base = options.subtracting(.collectionChanges)
    guard Value.self is any _KeyValueCollection.Type else {
      return observe(keyPath, options: base, fileID: site.file, line: site.line, changeHandler: changeHandler)
    }
    // The follower reads the new value, and knows the old one; before a change it is the frame that does.
    base.remove(.new)
    if !options.contains(.prior) { base.remove(.old) }
    let follower = CollectionFollower(knowing: options.contains(.initial) ? nil : .some(self[keyPath: keyPath]))
    // Making a key path, and reading through it, touches no state of its own.
    nonisolated(unsafe) let path = keyPath
    let token = observe(path, options: base, fileID: site.file, line: site.line) { object, change in
      if change.isPrior { return changeHandler(object, change) }
      let told = change.kind == .setting ? nil : (change.kind, change.indexes)
      follower.changed(told: told) {
        object[keyPath: path]
      } tell: { kind, indexes, old, new in
        changeHandler(
          object,
          NSKeyValueObservedChange(
            kind: kind, newValue: options.contains(.new) ? new.map(typed) : nil,
            oldValue: options.contains(.old) ? old.map(typed) : nil, indexes: indexes))
      }
    }
    follower.follow(token.observation)
    return token
  }
}

/// A value as of its own type again, whose optionals were taken off.
private func typed<Value>(_ value: Any?) -> Value {
  guard let value else { return Any?.none as! Value }
  return value as! Value
}
