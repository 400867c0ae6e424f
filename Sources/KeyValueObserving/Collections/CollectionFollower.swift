// The collection's state as an observer with `.collectionChanges` knows it.

import CKVO
import Foundation
import Synchronization

/// Converts each change that an observation receives into changes of elements.
///
/// It compares with the state at the observer's last notification, not with the value before the change. Changes that other
/// observers make reach this one in a different order; comparing this way, each notification still continues from the previous one.
final class CollectionFollower: RememberedValue, @unchecked Sendable {
  private enum Known {
    /// The next change is delivered as a setting of the whole value.
    case nothing
    /// The value without its optionals, and whether it is the one between the two changes of elements that a change is delivered as.
    case value(Any?, isPart: Bool = false)
  }

  private let known: Guarded<Known>
  private let observation = Atomic<UInt64>(0)
  private let evaluator: ActorGate?
  private let read: () -> Any?

  /// - Parameters:
  ///   - evaluator: The actor on which the collection is read, if not on any thread.
  ///   - read: Reads the collection. It does not retain the object.
  init(_ options: NSKeyValueObservingOptions, on evaluator: ActorGate?, _ read: @escaping () -> Any?) {
    (self.evaluator, self.read) = (evaluator, read)
    known = Guarded(options.contains(.initial) ? .nothing : .value(read().flatMap(unwrapped)))
  }

  /// Creates a follower for a classic observer of a string key path.
  convenience init(
    of object: any KeyValueObservable, _ keyPath: String, _ options: NSKeyValueObservingOptions,
    on evaluator: ActorGate?
  ) {
    // An undefined key may be announced manually; its value is not known.
    self.init(options, on: evaluator) { [weak object] in
      object.flatMap { try? KeyPathWalk.observedValue(of: $0, at: keyPath) }
    }
  }

  /// Sets the observation. Once it is no longer registered, nothing is delivered.
  func follow(_ registered: kvo_observation) { observation.store(registered, ordering: .relaxed) }

  /// Delivers a change of the collection: one or two changes of its elements, or a setting.
  ///
  /// - Parameters:
  ///   - announced: The kind and indexes of the notification, if it was for elements.
  ///   - read: Reads the collection.
  ///   - deliver: Calls the observer. The values have no optionals; the outer optional is `nil` if the change has no such value.
  func changed(
    announced: (kind: NSKeyValueChange, indexes: IndexSet?)?, read: () -> Any?,
    deliver: (_ kind: NSKeyValueChange, _ indexes: IndexSet?, _ old: Any??, _ new: Any??) -> Void
  ) {
    var announced = announced
    var isFirst = true
    while true {
      let now = read().flatMap(unwrapped)
      let before = known.withLock { $0 }
      var step: CollectionStep?
      var old: Any??
      if case .value(let value, _) = before {
        old = .some(value)
        if let value, let now { step = KeyValueObserving.step(from: value, to: now, announced: announced) }
      }
      // Stored before the delivery, so that a change which the observer makes is compared with this state.
      known.withLock { $0 = .value(step?.result ?? now, isPart: step?.isLast == false) }
      if let step {
        deliver(step.kind, step.indexes, step.old.map { .some($0) }, step.new.map { .some($0) })
      } else if isFirst {
        deliver(.setting, nil, old, .some(now))
      }
      guard let step, !step.isLast, isRegistered else { return }
      isFirst = false
      announced = nil
    }
  }

  /// What was missed is delivered as what was inserted or removed, so the state before it is kept.
  override func resumed(deliveringMissed: Bool) {
    if deliveringMissed { return }
    var new = evaluator?.mayEvaluate ?? true ? Known.value(unrecorded(read).flatMap(unwrapped)) : .nothing
    // The state before is released when the lock is free.
    known.withLock { known in
      if case .value(_, isPart: true) = known { return }  // a change is delivered whole
      swap(&known, &new)
    }
  }

  private var isRegistered: Bool {
    let observation = observation.load(ordering: .relaxed)
    return observation == 0 || kvo_observation_is_registered(observation)
  }
}

extension kvo_raw_change {
  /// The kind and indexes of a change of elements; `nil` for a setting.
  var announcedElements: (kind: NSKeyValueChange, indexes: IndexSet?)? {
    guard let kind = NSKeyValueChange(rawValue: UInt(kind.rawValue)), kind != .setting else { return nil }
    return (kind, IndexSet(__positions: indexes, count: index_count))
  }
}
