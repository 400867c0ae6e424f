// A value protected by a lock.

public import CKVO
public import Foundation

/// A value that can be accessed only while its lock is held.
///
/// It uses `NSLock`, not `Mutex`: the Synchronization library is not instrumented, so that ThreadSanitizer would report every
/// access as a data race.
///
/// If the value is a function, wrap it in a structure. Otherwise Swift adds a reabstraction thunk each time a generic type passes
/// the function out or takes it back, so that each access would add one more level of calls.
@usableFromInline
final class Guarded<Value>: @unchecked Sendable {
  @usableFromInline let lock = NSLock()
  @usableFromInline var value: Value

  @inlinable
  init(_ value: Value) { self.value = value }

  @inlinable
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    // The lock has to be free in the child process after a fork.
    kvo_section_enter()
    defer { kvo_section_leave() }
    lock.lock()
    defer { lock.unlock() }
    return body(&value)
  }
}
