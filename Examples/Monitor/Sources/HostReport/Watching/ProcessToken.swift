// Observes one process until its object is deallocated, and reports that the observation has ended with it.
import HostModel
import KeyValueObserving
import Synchronization

extension HostProcess {
  func observeUntilItDies(_ journal: Journal) -> NSKeyValueObservation {
    // When an observation ends, its closure is released, and with it everything that the closure captures.
    let ending = Ending { [journal, summary] in journal.tell(.ended(summary)) }
    return observe(\.residentBytes, options: [.initial, .new]) { [journal, ending] process, change in
      journal.notified(.process(process.summary, residentBytes: change.newValue ?? 0))
      withExtendedLifetime(ending) {}
    }
  }
}

/// Calls its closure when it is deallocated.
private final class Ending: Sendable {
  private let action: @Sendable () -> Void

  init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  deinit { action() }
}

/// Tokens that a handler replaces. Handlers may run on any thread.
final class TokenList: Sendable {
  private struct State {
    var tokens: [NSKeyValueObservation] = []
    var summary: ProcessSummary?
  }

  private let state = Mutex(State())

  var tokens: [NSKeyValueObservation] {
    get { state.withLock { $0.tokens } }
    set {
      // The old tokens are released after the lock is released, because ending an observation runs other code.
      let before = state.withLock { state in
        let before = state.tokens
        state.tokens = newValue
        return before
      }
      withExtendedLifetime(before) {}
    }
  }

  /// The process that the tokens observe, if any.
  var summary: ProcessSummary? {
    get { state.withLock { $0.summary } }
    set { state.withLock { $0.summary = newValue } }
  }
}
