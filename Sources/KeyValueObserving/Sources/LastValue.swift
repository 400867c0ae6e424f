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
