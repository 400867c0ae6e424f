// A wait that SIGINT interrupts.
import Dispatch
import Glibc

final class Interruption {
  private let received = DispatchSemaphore(value: 0)
  private let source: any DispatchSourceSignal

  init() {
    signal(SIGINT, SIG_IGN)  // the default action would end the program before the source receives the signal
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { [received] in received.signal() }
    source.resume()
  }

  deinit {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }

  /// Waits until `deadline`; returns false if SIGINT arrives first.
  func wait(until deadline: DispatchTime) -> Bool { received.wait(timeout: deadline) == .timedOut }
}
