// The value that was passed on last.

/// The value that an operator has passed on last, to one observer.
@usableFromInline
struct LastValue<Value> {
  @usableFromInline let value: Guarded<Value?>

  @inlinable
  init(_ value: Value?) { self.value = Guarded(value) }

  init(of value: Guarded<Value?>) { self.value = value }

  @inlinable
  func load() -> Value? { value.withLock { $0 } }

  /// Stores a value and returns the one before it.
  @inlinable
  func exchange(_ new: Value) -> Value? {
    // The one before is released by the caller, when the lock is free.
    var previous: Value? = new
    value.withLock { swap(&$0, &previous) }
    return previous
  }

  func setIfMissing(_ new: Value) { value.withLock { if $0 == nil { $0 = new } } }
}

/// The value that an observer got last, if that can be kept: a kept object would not be deallocated.
///
/// With it, the old value of a change is the new value of the one before, also if an observer makes changes within another one.
@usableFromInline
final class LastDelivered<Value>: Sendable {
  private let value: Guarded<Value?>?

  /// - Parameter present: Returns the value that counts as delivered before the first one, if there is one.
  @usableFromInline
  init(_ present: () -> Value? = { nil }) { value = holdsNoObject(Value.self) ? Guarded(present()) : nil }

  @usableFromInline var isKept: Bool { value != nil }

  @usableFromInline
  func load() -> Value? { value?.withLock { $0 } }

  /// Stores a value and returns the one before it.
  @usableFromInline
  @discardableResult
  func exchange(_ new: Value) -> Value? {
    var previous: Value? = new
    value?.withLock { swap(&$0, &previous) }
    return value == nil ? nil : previous
  }
}

/// What `removeDuplicates` passes on to one observer. Of values that cannot be kept, it compares those of each change.
@usableFromInline
final class Duplicates<Value>: Sendable {
  private let last: LastDelivered<Value>

  @usableFromInline
  init(after present: () -> Value?) { last = LastDelivered(present) }

  /// Returns the change to tell for one of the source; `nil` if its value is a duplicate.
  @usableFromInline
  func told(
    _ change: NSKeyValueObservedChange<Value>, _ areEqual: (Value, Value) -> Bool
  ) -> NSKeyValueObservedChange<Value>? {
    guard let new = change.newValue else { return change }
    // The initial change has no old value.
    let old = change.oldValue.map { last.load() ?? $0 }
    if let old, areEqual(old, new) { return nil }
    last.exchange(new)
    return NSKeyValueObservedChange(kind: change.kind, newValue: new, oldValue: old)
  }
}
