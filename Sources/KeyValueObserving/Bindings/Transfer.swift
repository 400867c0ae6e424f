// Which bindings set a property just now, and on which thread.

import CSwiftRuntime
import Synchronization

/// A binding's mark of its transfers, by which it knows its own answers.
///
/// It has to be exact: if a binding took an answer of its own for a change, two threads that set both ends of a cycle could nest without
/// end.
@usableFromInline
final class TransferMark: Sendable {
  /// How many transfers are in progress, on all threads. Usually none, and then there is nothing to look for.
  private let count = Atomic<Int>(0)

  init() {}

  /// Whether this thread is within a transfer of the binding.
  var isOnThisThread: Bool {
    guard count.load(ordering: .relaxed) != 0 else { return false }
    let mine = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    var transfer = kvo_innermost_transfer()
    while let at = transfer {
      if at.pointee.of == mine { return true }
      transfer = at.pointee.outer
    }
    return false
  }

  /// Runs the code that sets a property.
  func run(_ body: () -> Void) {
    count.add(1, ordering: .relaxed)
    let outer = kvo_innermost_transfer()
    var transfer = kvo_transfer(of: Unmanaged.passUnretained(self).toOpaque(), outer: outer)
    withUnsafeMutablePointer(to: &transfer) { transfer in
      kvo_set_innermost_transfer(transfer)
      body()
      kvo_set_innermost_transfer(outer)
    }
    count.subtract(1, ordering: .relaxed)
  }
}
