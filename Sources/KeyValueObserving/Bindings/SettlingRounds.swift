// The rounds in which a binding gives both of its sides the same value, and how many there may be.

import CKVO
import CSwiftRuntime
import Synchronization

/// The rounds of one call that settles a binding.
///
/// The rounds are counted from the last change that the program has made on another thread. What other threads set because they settle
/// bindings themselves is not such a change, or bindings that never agree would keep each other going. But two of these threads may
/// exchange the values of the two sides in each round, as long as they are equally fast. So each waits before a round, for a time of its
/// own.
///
/// If other threads go on with their changes, the first that is found within a transfer takes over. If none ever is, the changes are made
/// in answer to what the binding sets.
struct SettlingRounds: ~Copyable {
  private var count = 0
  private var all = 0
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
    guard count < Self.most, all < Self.most * Self.forOthers else { return false }
    (count, all) = (count + 1, all + 1)
    kvo_settling_wait(UInt32(count))
    return true
  }

  /// Whether there were so many rounds that another thread should take over.
  var areMany: Bool { all > Self.most }

  /// Whether this is the last round.
  var isLast: Bool { count == Self.most || all == Self.most * Self.forOthers }

  static let most = Int(kvo_binding_max_rounds())
  /// How many times as many rounds there may be if other threads make changes.
  private static let forOthers = 16
}
