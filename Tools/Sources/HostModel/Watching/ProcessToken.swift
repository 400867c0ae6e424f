// Watching one process until it dies: its token ends by itself, and this is how one sees that it did.
import KeyValueObserving
import Synchronization

extension HostProcess {
  func observeUntilItDies(_ journal: Journal) -> NSKeyValueObservation {
    // When an observation ends, its closure is destroyed and all that the closure holds with it.
    let ending = Ending { [journal, summary] in journal.tell(.ended(summary)) }
    return observe(\.residentBytes, options: [.initial, .new]) { [journal, ending] process, change in
      journal.notified(.process(process.summary, residentBytes: change.newValue ?? 0))
      withExtendedLifetime(ending) {}
    }
  }
}

/// Calls its closure when it dies.
private final class Ending: Sendable {
  private let action: @Sendable () -> Void

  init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  deinit { action() }
}

/// Tokens that a handler renews; handlers may run on any thread.
final class TokenList: Sendable {
  private struct State {
    var tokens: [NSKeyValueObservation] = []
    var summary: ProcessSummary?
  }

  private let state = Mutex(State())

  var tokens: [NSKeyValueObservation] {
    get { state.withLock { $0.tokens } }
    set {
      // What was there before ends after the lock is open: the end of an observation runs other code.
      let before = state.withLock { state in
        let before = state.tokens
        state.tokens = newValue
        return before
      }
      withExtendedLifetime(before) {}
    }
  }

  /// Which process the tokens observe, if they observe one.
  var summary: ProcessSummary? {
    get { state.withLock { $0.summary } }
    set { state.withLock { $0.summary = newValue } }
  }
}
