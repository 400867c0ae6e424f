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

/// What an observation remembers of its values. `resume()` makes it forget what changed during the pause.
@usableFromInline
class RememberedValue: @unchecked Sendable {
  func resumed(deliveringMissed: Bool) {}
}

/// The value that an observer got last, if that can be kept: a kept object would not be deallocated.
///
/// With it, the old value of a change is the new value of the one before, also if an observer makes changes within another one.
@usableFromInline
final class LastDelivered<Value>: RememberedValue, @unchecked Sendable {
  @usableFromInline let value: Guarded<Value?>?

  /// - Parameter present: Returns the value that counts as delivered before the first one, if there is one.
  @usableFromInline
  init(_ present: () -> Value? = { nil }) { value = holdsNoObject(Value.self) ? Guarded(present()) : nil }

  /// The next change has its own old value. What was missed is a change of the value that was delivered last.
  override func resumed(deliveringMissed: Bool) { if !deliveringMissed { forget() } }

  @usableFromInline
  func forget() {
    var previous: Value?
    value?.withLock { swap(&$0, &previous) }
  }

  @usableFromInline var isKept: Bool { value != nil }

  @usableFromInline
  func load() -> Value? { value?.withLock { $0 } }

  /// Stores a value and returns the one before it.
  @inlinable
  @discardableResult
  final func exchange(_ new: Value) -> Value? {
    guard let value else { return nil }
    var previous: Value? = new
    value.withLock { swap(&$0, &previous) }
    return previous
  }
}

/// What `removeDuplicates` passes on to one observer.
///
/// A value that cannot be kept for good is kept only as long as values are left out after it: otherwise the one before is the source's own.
@usableFromInline
final class Duplicates<Value>: Sendable {
  private typealias LeftOut = (told: Value, last: Value)

  @usableFromInline let last: LastDelivered<Value>
  /// The value that was told last, and the last one that was left out since.
  private let leftOut = Guarded<LeftOut?>(nil)

  @usableFromInline
  init(after present: () -> Value?) { last = LastDelivered(present) }

  /// Returns the change to tell for one of the source; `nil` if its value is a duplicate.
  @usableFromInline
  func told(
    _ change: NSKeyValueObservedChange<Value>, _ areEqual: (Value, Value) -> Bool
  ) -> NSKeyValueObservedChange<Value>? {
    guard let new = change.newValue else { return change }
    let old = last.isKept ? change.oldValue.map { last.load() ?? $0 } : oldValue(of: change, areEqual)
    if let old, areEqual(old, new) {
      if !last.isKept { keep(haveSameBytes(old, new) ? nil : (old, new)) }
      return nil
    }
    if last.isKept { last.exchange(new) } else { keep(nil) }
    return NSKeyValueObservedChange(kind: change.kind, newValue: new, oldValue: old)
  }

  /// The value that was told last if the change follows on the one that was left out. Otherwise another thread's was between them, or a
  /// silent one.
  private func oldValue(of change: NSKeyValueObservedChange<Value>, _ areEqual: (Value, Value) -> Bool) -> Value? {
    guard let old = change.oldValue, let known = leftOut.withLock({ $0 }) else { return change.oldValue }
    return areEqual(known.last, old) ? known.told : old
  }

  private func keep(_ new: LeftOut?) {
    // What was kept before is released when the lock is free.
    var previous = new
    leftOut.withLock { swap(&$0, &previous) }
  }
}
