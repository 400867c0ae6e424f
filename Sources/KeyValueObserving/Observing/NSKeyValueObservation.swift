// The token of an observation.

internal import CKVO
public import Foundation

/// An observation made with a closure.
///
/// The observation lasts until the token is invalidated or released, or the observed object dies, whichever is first; none of
/// these is ever an error. The token keeps the closure alive, but not the observed object.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  let observation: kvo_observation

  init(_ observation: kvo_observation) { self.observation = observation }

  /// Ends the observation.
  ///
  /// After it returns, no new delivery to the closure begins, on any thread; one that has begun on another thread may finish. The
  /// closure is released before it returns, or, when a delivery of the object is in progress, as soon as that is over. Calling
  /// it again, also from within the closure, does nothing. Safe on any thread.
  public func invalidate() { kvo_cancel_observer(observation) }

  /// Ends the observation and waits until its closure runs on no other thread.
  ///
  /// After it returns, the closure neither runs nor will run, so that what it uses can be taken down. It waits also when the
  /// observation had ended before. It waits for this closure only, not for other observers of the object. Hold no lock that the
  /// closure takes.
  ///
  /// Called from within the closure itself, or from within one that this closure is in turn waiting for, it could never return:
  /// that is fault KVO0017, and it does not wait for those. Our addition; Apple's platforms have nothing of the kind.
  public func invalidateAndWait(fileID: StaticString = #fileID, line: UInt = #line) {
    let site = SourceLocation(file: fileID, line: line)
    kvo_cancel_observer_and_wait_at(observation, site.cFile, site.cLine)
  }

  deinit { kvo_cancel_observer(observation) }
}
