// Observation with the option `.collectionChanges`.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Implements `observe` for the option `.collectionChanges`.
  nonisolated func observeCollection<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, _ path: ExpressionPath<Self, Value>?,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> kvo_observation {
    var base = options.subtracting(.collectionChanges)
    guard Value.self is any _KeyValueCollection.Type else {
      return observe(keyPath, base, site, observer, sharing: path, changeHandler)
    }
    // The follower reads the new value and knows the old one. Only the prior notification takes the old value from the frame.
    base.remove(.new)
    if !options.contains(.prior) { base.remove(.old) }
    let path = path ?? ExpressionPath(keyPath)
    let reference = UnretainedObject(self)
    let evaluator = path.isStored(property(at: keyPath), of: self) ? nil : observer?.evaluator
    let follower = CollectionFollower(options, on: evaluator) { reference.load().flatMap { path.read($0) } }
    observer?.end?.remember(follower)
    let handler: (Self, NSKeyValueObservedChange<Value>) -> Void = { object, change in
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
    let observation = observe(keyPath, base, site, observer?.readingAgain, sharing: path, handler)
    follower.follow(observation)
    return observation
  }

  /// Makes a token whose `resume()` the follower notices.
  @usableFromInline
  nonisolated func keepCollection<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let end = ObservationEnd()
    let description = ObserverDescription(receiver: nil, note: nil, end: end)
    return .keeping([observe(keyPath, options, site, description, changeHandler)], end)
  }
}

/// Returns a value without its optionals as its original type; the outer optional is `nil` if it has another type.
private func typed<Value>(_ value: Any?) -> Value? { value as? Value }
