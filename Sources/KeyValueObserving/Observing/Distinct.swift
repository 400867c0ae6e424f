// The option `.distinct`: changes to an equal value are not delivered.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Implements `observe` for the option `.distinct`.
  nonisolated func observeDistinct<Value>(
    _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?, _ path: ExpressionPath<Self, Value>?,
    _ changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> kvo_observation {
    guard !isDistinctRefused(name(ofObserved: keyPath), options, site) else { return 0 }
    guard let areEqual = equality(of: Value.self) else {
      raiseRefusedOptions(name(ofObserved: keyPath), ".distinct: \(Value.self) is not Equatable", site)
      return 0
    }
    let base = options.subtracting(.distinct).union([.old, .new])
    return observe(keyPath, base, site, observer, sharing: path) { object, change in
      if change.kind == .setting, let old = change.oldValue, let new = change.newValue, areEqual(old, new) { return }
      changeHandler(object, change.limited(to: options))
    }
  }

  /// Reports and refuses `.distinct` with `.prior`.
  nonisolated func isDistinctRefused(
    _ keyPath: String, _ options: NSKeyValueObservingOptions, _ site: SourceLocation
  ) -> Bool {
    guard options.isSuperset(of: [.distinct, .prior]) else { return false }
    raiseRefusedOptions(keyPath, ".distinct and .prior: before a change the new value is not known", site)
    return true
  }

  /// Reports options that contradict each other or the value's type.
  @usableFromInline
  nonisolated func raiseRefusedOptions(_ keyPath: String, _ reason: String, _ site: SourceLocation) {
    let name = ObserverIdentity(self)
    raiseFault(
      KVO_FAULT_INVALID_ARGUMENT,
      "cannot observe \"\(keyPath)\" of \(name.className)@\(name.addressText) with \(reason)", site: site)
  }
}

extension NSKeyValueObservedChange {
  /// The change with only the values that the options request.
  @inlinable
  func limited(to options: NSKeyValueObservingOptions) -> Self {
    if options.isSuperset(of: [.old, .new]) { return self }
    return Self(
      kind: kind, newValue: options.contains(.new) ? newValue : nil, oldValue: options.contains(.old) ? oldValue : nil,
      indexes: indexes, isPrior: isPrior)
  }
}

/// Returns the function that compares values of a type, or `nil` if it is not `Equatable`.
@inlinable
func equality<Value>(of _: Value.Type) -> ((Value, Value) -> Bool)? {
  func equating<Known: Equatable>(_: Known.Type) -> (Value, Value) -> Bool {
    let compare: (Known, Known) -> Bool = { $0 == $1 }
    return compare as! (Value, Value) -> Bool
  }
  return (Value.self as? any Equatable.Type).map { equating($0) }
}
