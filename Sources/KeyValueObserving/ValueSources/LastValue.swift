// The value that was passed on last.

public import Synchronization

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

/// What `removeDuplicates` has left out since it passed on a value, for one observer.
///
/// As long as nothing is left out, the value before is the source's own, and nothing is kept: a kept object would not be deallocated.
@usableFromInline
final class Duplicates<Value>: Sendable {
  @usableFromInline typealias LeftOut = (told: Value, last: Value)

  /// The value that was told last, and the last one that was left out since.
  @usableFromInline let leftOut = Guarded<LeftOut?>(nil)
  /// Whether there is one: most changes need no lock.
  @usableFromInline let hasLeftOut = Atomic<Bool>(false)

  @inlinable
  init() {}

  /// Returns the change to tell for one of the source; `nil` if its value is a duplicate.
  @inlinable
  func told(
    _ change: NSKeyValueObservedChange<Value>, _ areEqual: (Value, Value) -> Bool
  ) -> NSKeyValueObservedChange<Value>? {
    let known = hasLeftOut.load(ordering: .acquiring) ? leftOut.withLock { $0 } : nil
    // Unless the change follows on the one that was left out, another thread's was between them, or a silent one.
    let follows = known.map { known in change.oldValue.map { areEqual(known.last, $0) } ?? true } ?? false
    guard let old = follows ? known?.told : change.oldValue, let new = change.newValue, areEqual(old, new) else {
      if known != nil { keep(nil) }
      return follows
        ? NSKeyValueObservedChange(kind: change.kind, newValue: change.newValue, oldValue: known?.told) : change
    }
    if !haveSameBytes(old, new) {
      keep((old, new))
    } else if known != nil {
      keep(nil)
    }
    return nil
  }

  @inlinable
  func keep(_ new: LeftOut?) {
    // What was kept before is released when the lock is free.
    var previous = new
    leftOut.withLock { leftOut in
      swap(&leftOut, &previous)
      hasLeftOut.store(new != nil, ordering: .releasing)
    }
  }
}
