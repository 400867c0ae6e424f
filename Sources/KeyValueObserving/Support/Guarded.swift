// A value behind a lock.

import CKVO
import Foundation

/// A value that is accessed under a lock only.
///
/// `NSLock`, not `Mutex`: ThreadSanitizer sees pthread's locks, but not those of the Synchronization library, which is not
/// instrumented, and would report every access.
///
/// A function as the value belongs into a structure: where a generic type lends it out, Swift wraps it in a function that converts
/// it, and again when it takes it back, so that each access would leave it one call deeper.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    // The child of a fork has to find the lock free.
    kvo_section_enter()
    defer { kvo_section_leave() }
    return lock.withLock { body(&value) }
  }
}
