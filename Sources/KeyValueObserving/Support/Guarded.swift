// A value protected by a lock.

public import CKVO

/// A value that can be accessed only while its lock is held.
///
/// The lock is the runtime's: it is free in the child process after a fork, and ThreadSanitizer knows it, unlike `Mutex`.
///
/// If the value is a function, wrap it in a structure. Otherwise Swift adds a reabstraction thunk each time a generic type passes
/// the function out or takes it back, so that each access would add one more level of calls.
@usableFromInline
final class Guarded<Value>: @unchecked Sendable {
  @usableFromInline let lock: UnsafeMutablePointer<kvo_guard>
  @usableFromInline var value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
    lock = .allocate(capacity: 1)
    lock.initialize(to: kvo_guard())
  }

  @inlinable
  deinit { lock.deallocate() }

  @inlinable
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    kvo_guard_lock(lock)
    defer { kvo_guard_unlock(lock) }
    return body(&value)
  }
}
