// The token of an observation.

internal import CKVO
public import Foundation

/// An observation made with a closure.
///
/// The observation lasts until the token is invalidated or released, or the observed object is deallocated, whichever comes first;
/// none of these is an error. The token retains the closure, but not the observed object.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  let observation: kvo_observation

  init(_ observation: kvo_observation) { self.observation = observation }

  /// Ends the observation.
  ///
  /// After it returns, no new call of the closure begins on any thread; a call that has begun on another thread may still finish.
  /// The closure is released before the method returns or, if a delivery of the object is in progress, when that delivery ends.
  /// Calling the method again, also from within the closure, does nothing. It is safe on any thread.
  public func invalidate() { kvo_cancel_observer(observation) }

  /// Ends the observation and waits until no other thread runs its closure.
  ///
  /// After it returns, the closure does not run and will not run again, so that the resources it uses can be released. It also
  /// waits if the observation had already ended. It waits for this closure only, not for other observers of the object. Do not hold
  /// a lock that the closure takes.
  ///
  /// A call from within the closure itself, or from within a closure that this closure is in turn waiting for, would deadlock. It
  /// is fault KVO0017, and the method does not wait for those calls. This method is an addition; Apple's platforms have no
  /// equivalent.
  public func invalidateAndWait(fileID: StaticString = #fileID, line: UInt = #line) {
    let site = SourceLocation(file: fileID, line: line)
    kvo_cancel_observer_and_wait_at(observation, site.cFile, site.cLine)
  }

  deinit { kvo_cancel_observer(observation) }
}
