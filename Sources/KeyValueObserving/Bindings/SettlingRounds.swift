// The rounds in which a binding gives both of its sides the same value, and how many there may be.

import CKVO
import CSwiftRuntime
import Synchronization

/// The rounds of one call that settles a binding.
///
/// What the program sets on other threads meanwhile may go on for long, and comes to its end: the rounds are counted from the last such
/// change. What other threads set because they settle bindings themselves is not such a change, or bindings that never agree would keep
/// each other going. But two of these threads may exchange the values of the two sides in each round, as long as they are equally fast.
/// So each of them waits for another time before a round.
struct SettlingRounds: ~Copyable {
  private var count = 0
  private var changes: UInt

  init(_ marks: borrowing TransferMarks) {
    changes = marks.changes.load(ordering: .relaxed)
    kvo_settling_begin()
  }

  deinit { kvo_settling_end() }

  /// Begins the next round, unless there were too many. Called before the round reads a value, because it may wait.
  mutating func next(_ marks: borrowing TransferMarks) -> Bool {
    let present = marks.changes.load(ordering: .relaxed)
    if present != changes { (count, changes) = (0, present) }
    guard count < Self.most else { return false }
    count += 1
    kvo_settling_wait(UInt32(count))
    return true
  }

  /// Whether this is the last round.
  var isLast: Bool { count == Self.most }

  static let most = Int(kvo_binding_max_rounds())
}
