// The initial value of an observation, which comes first.

public import Foundation
public import Synchronization

/// Recognises the initial value, which the thread that registers the observation delivers. Other threads may deliver changes before.
@usableFromInline
struct InitialValue: ~Copyable {
  /// The thread that has still to deliver it, or 0.
  @usableFromInline let registrar: Atomic<UInt>

  /// - Parameter isExpected: Whether this thread is about to register an observation that has one.
  @inlinable
  init(isExpected: Bool) { registrar = Atomic(isExpected ? UInt(pthread_self()) : 0) }

  @usableFromInline var isExpected: Bool { registrar.load(ordering: .relaxed) != 0 }

  /// Returns whether what this thread delivers now is the initial value.
  @inlinable
  borrowing func isNext() -> Bool {
    let thread = registrar.load(ordering: .relaxed)
    guard thread != 0, thread == UInt(pthread_self()) else { return false }
    registrar.store(0, ordering: .relaxed)
    return true
  }

  /// The observation is registered: whatever this thread delivers from now on is a change.
  @usableFromInline
  borrowing func end() { registrar.store(0, ordering: .relaxed) }
}
