// Waiting that SIGINT ends.
import Dispatch
import Glibc

final class Interruption {
  private let received = DispatchSemaphore(value: 0)
  private let source: any DispatchSourceSignal

  init() {
    signal(SIGINT, SIG_IGN)  // else the default action ends the program before the source hears of it
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { [received] in received.signal() }
    source.resume()
  }

  deinit {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }

  /// Waits until `deadline`; false when SIGINT came before.
  func wait(until deadline: DispatchTime) -> Bool { received.wait(timeout: deadline) == .timedOut }
}
