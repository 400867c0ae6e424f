// Ends observations whose receiver has died, although what they observe does not change.

import CSwiftRuntime

/// The observations whose receiver says nothing at its death. A change of what they observe ends them; so does a registration, whenever
/// there are twice as many as were left the last time.
enum DeadReceivers {
  /// A class, so that it has one unowned reference, which is counted.
  private final class Entry: Sendable {
    private let end: ObservationEnd
    private nonisolated(unsafe) let receiver: UnretainedObject<AnyObject>

    init(_ end: ObservationEnd, _ receiver: AnyObject) {
      self.end = end
      self.receiver = UnretainedObject(receiver)
      ObserverCounts.add(self.receiver.address)
    }

    // Before the unowned reference is released.
    deinit { ObserverCounts.remove(receiver.address) }

    /// Returns whether the observation has ended, or ends now. Does not retain the receiver, whose death another thread may wait for.
    func isOver() -> Bool {
      if end.isOver { return true }
      if !swift_isDeallocating(receiver.address) { return false }
      end.receiverDied()
      return true
    }
  }

  private struct List {
    var entries: [Entry] = []
    var limit = leastLimit
  }

  private static let leastLimit = 64
  /// What was registered on the main thread is looked at there only, because its handler is released.
  private static let ofMainThread = Guarded(List())
  private static let ofOthers = Guarded(List())

  /// Adds an observation that has been registered.
  static func add(_ end: ObservationEnd, _ receiver: AnyObject) {
    let entry = Entry(end, receiver)
    let list = kvo_is_main_thread() ? ofMainThread : ofOthers
    let due = list.withLock { list -> [Entry]? in
      list.entries.append(entry)
      guard list.entries.count >= list.limit else { return nil }
      list.limit = .max
      defer { list.entries = [] }
      return list.entries
    }
    if let due { sweep(due, of: list) }
  }

  /// Without the lock, because code of the program may run.
  private static func sweep(_ due: [Entry], of list: Guarded<List>) {
    let left = due.filter { !$0.isOver() }
    list.withLock { list in
      list.entries += left
      list.limit = max(leastLimit, 2 * list.entries.count)
    }
  }
}
