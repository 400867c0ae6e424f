// Something that the runtime tells of the death of an object.

import CKVO
import Synchronization

/// Is called once when an object has died, unless it stops before. The runtime retains it until then.
@usableFromInline
class DeathObserver: @unchecked Sendable {
  /// The runtime's ID of the watch, or 0.
  private let watch = Atomic<UInt64>(0)

  private static nonisolated(unsafe) let operations: UnsafePointer<kvo_observer_ops> = {
    let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_observer_ops(
        callback: { _, _ in },
        destroy: { Unmanaged<DeathObserver>.fromOpaque($0!).takeRetainedValue().objectDied() }, abandon: nil,
        evaluate: nil, release: nil, same: nil, is_here: nil, ask: nil, of_property: nil))
    return UnsafePointer(operations)
  }()

  /// Called on the thread that releases the object, with no lock held, and also by `stopWatching`.
  func objectDied() {}

  /// Watches an object. Called once at most.
  final func watch(_ object: KeyValueObjectReference) {
    let context = Unmanaged.passRetained(self)
    var made: kvo_observation = 0
    guard kvo_binding_observe_death(object, Self.operations, context.toOpaque(), &made) == KVO_OK else {
      return context.release()
    }
    watch.store(made, ordering: .sequentiallyConsistent)
  }

  final func stopWatching() {
    let made = watch.load(ordering: .sequentiallyConsistent)
    if made != 0 { kvo_cancel_observer(made) }
  }
}
