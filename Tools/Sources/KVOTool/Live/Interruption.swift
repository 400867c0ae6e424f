// Ctrl-C and its kin as an event of poll, so that what has been done is kept.
import Foundation

/// The end of a pipe into which the signal handler writes. Written once, before the handler is set.
nonisolated(unsafe) private var signalled: Int32 = -1

/// While it exists, SIGINT, SIGTERM and SIGHUP make `descriptor` readable. Only one exists at a time.
package final class Interruption {
  private static let numbers = [SIGINT, SIGTERM, SIGHUP]

  let descriptor: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      descriptor = -1  // then a signal ends the tool, as it does without this
      return
    }
    descriptor = ends[0]
    signalled = ends[1]
    // A program that starts the tool from a thread whose signals are blocked, as those of Dispatch are, leaves them blocked in the tool.
    var all = sigset_t()
    sigemptyset(&all)
    for number in Self.numbers {
      sigaddset(&all, number)
      let before = signal(number) { _ in
        let error = errno
        _ = write(signalled, "!", 1)
        errno = error
      }
      // Such as SIGHUP under nohup.
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
    }
    sigprocmask(SIG_UNBLOCK, &all, nil)
  }

  /// Lets a signal end the tool again.
  deinit {
    guard descriptor >= 0 else { return }
    for number in Self.numbers { signal(number, SIG_DFL) }
    close(descriptor)
    close(signalled)
  }
}
