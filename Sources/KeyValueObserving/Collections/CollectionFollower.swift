// The collection's state as an observer with `.collectionChanges` knows it.

import CKVO
import Foundation
import Synchronization

/// Converts each change that an observation receives into changes of elements.
///
/// It compares with the state at the observer's last notification, not with the value before the change. Changes that other
/// observers make reach this one in a different order; comparing this way, each notification still continues from the previous one.
final class CollectionFollower: Sendable {
  private enum Known: @unchecked Sendable {
    /// The next change is delivered as a setting of the whole value.
    case nothing
    /// The value without its optionals.
    case value(Any?)
  }

  private let known: Guarded<Known>
  private let observation = Atomic<UInt64>(0)

  /// - Parameter value: The value that the observer knows; the outer optional is `nil` if it will receive the initial value.
  init(knowing value: Any??) { known = Guarded(value.map { .value($0.flatMap(unwrapped)) } ?? .nothing) }

  /// Creates a follower for a classic observer of a string key path.
  convenience init(of object: any KeyValueObservable, _ keyPath: String, _ options: NSKeyValueObservingOptions) {
    // An undefined key may be announced manually; its value is not known.
    let knows = !options.contains(.initial)
    self.init(knowing: knows ? .some(try? KeyPathWalk.observedValue(of: object, at: keyPath)) : nil)
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
      if case .value(let value) = before {
        old = .some(value)
        if let value, let now { step = KeyValueObserving.step(from: value, to: now, announced: announced) }
      }
      // Stored before the delivery, so that a change which the observer makes is compared with this state.
      known.withLock { $0 = .value(step?.result ?? now) }
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
