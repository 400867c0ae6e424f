// What an observer that asks for collection changes knows of the collection, and what it is told.

import CKVO
import Foundation
import Synchronization

/// Turns each change that an observation is told into what was done to the elements.
///
/// It compares with what the observer was told last, not with the value before the change: after changes by other observers, which
/// reach this one in another order, what is told still leads from one to the next.
final class CollectionFollower: Sendable {
  private enum Known: @unchecked Sendable {
    /// The next change is told as a setting of the whole.
    case nothing
    /// Without optionals.
    case value(Any?)
  }

  private let known: Guarded<Known>
  private let observation = Atomic<UInt64>(0)

  /// - Parameter value: What the observer knows; `nil` outside when it is going to be told initially.
  init(knowing value: Any??) { known = Guarded(value.map { .value($0.flatMap(unwrapped)) } ?? .nothing) }

  /// For a classic observer, of a string key path.
  convenience init(of object: any KeyValueObservable, _ keyPath: String, _ options: NSKeyValueObservingOptions) {
    let components = components(ofCodedPath: keyPath)
    // A key that is undefined may be announced by hand: its value is not known.
    let knows = !options.contains(.initial)
    self.init(knowing: knows ? .some(try? KeyPathWalk.observedValue(of: object, at: components)) : nil)
  }

  /// The observation is registered: once it is not any more, nothing is told.
  func follow(_ registered: kvo_observation) { observation.store(registered, ordering: .relaxed) }

  /// Tells a change of the collection: one or two of its elements, or a setting.
  ///
  /// - Parameters:
  ///   - told: What the change was told as, if not as a setting.
  ///   - read: Reads the collection.
  ///   - tell: Calls the observer. The values are without optionals; `nil` outside stands for one that the change does not have.
  func changed(
    told: (kind: NSKeyValueChange, indexes: IndexSet?)?, read: () -> Any?,
    tell: (_ kind: NSKeyValueChange, _ indexes: IndexSet?, _ old: Any??, _ new: Any??) -> Void
  ) {
    var told = told
    var isFirst = true
    while true {
      let now = read().flatMap(unwrapped)
      let before = known.withLock { $0 }
      var step: CollectionStep?
      var old: Any??
      if case .value(let value) = before {
        old = .some(value)
        if let value, let now { step = KeyValueObserving.step(from: value, to: now, told: told) }
      }
      // Before it is told: a change that the observer makes then is told from there.
      known.withLock { $0 = .value(step?.result ?? now) }
      if let step {
        tell(step.kind, step.indexes, step.old.map { .some($0) }, step.new.map { .some($0) })
      } else if isFirst {
        tell(.setting, nil, old, .some(now))
      }
      guard let step, !step.isLast, isRegistered else { return }
      isFirst = false
      told = nil
    }
  }

  private var isRegistered: Bool {
    let observation = observation.load(ordering: .relaxed)
    return observation == 0 || kvo_observation_is_registered(observation)
  }
}

extension kvo_raw_change {
  /// Kind and positions of a change of elements; `nil` of a setting.
  var toldElements: (kind: NSKeyValueChange, indexes: IndexSet?)? {
    guard let kind = NSKeyValueChange(rawValue: UInt(kind.rawValue)), kind != .setting else { return nil }
    return (kind, IndexSet(__positions: indexes, count: index_count))
  }
}
