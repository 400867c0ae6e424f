// The token of an observation that is more than an ID: with a receiver, with a delivery elsewhere, or of several key paths.

import CKVO
import Synchronization

final class ExtendedObservation: NSKeyValueObservation, @unchecked Sendable {
  /// The observations of further key paths.
  private let others: [kvo_observation]
  /// What ends it with its receiver. With a receiver, the release of the token ends nothing.
  private let end: ReceiverEnd?
  /// The changes that wait for their delivery. They hold the closure, which the token must not.
  private weak var delivery: PendingDelivery?

  init(
    _ observation: kvo_observation, others: [kvo_observation] = [], end: ReceiverEnd? = nil,
    delivery: PendingDelivery? = nil
  ) {
    self.others = others
    self.end = end
    self.delivery = delivery
    super.init(observation, endsOnRelease: end == nil)
  }

  deinit {
    guard end == nil else { return }
    for other in others { kvo_cancel_observer(other) }
  }

  override func invalidate() {
    super.invalidate()
    for other in others { kvo_cancel_observer(other) }
  }

  override func invalidateAndWait(fileID: StaticString = #fileID, line: UInt = #line) {
    invalidate()  // before it waits for the first
    super.invalidateAndWait(fileID: fileID, line: line)
    let site = SourceLocation(file: fileID, line: line)
    for other in others { kvo_cancel_observer_and_wait_at(other, site.cFile, site.cLine) }
  }

  override var isActive: Bool { super.isActive || others.contains(where: kvo_observation_is_registered) }

  override var isPaused: Bool { super.isPaused || others.contains(where: kvo_observation_is_paused) }

  override func pause() {
    super.pause()
    for other in others { _ = kvo_observation_pause(other) }
    delivery?.pause()
  }

  override func resume(deliveringMissed: Bool = false) {
    delivery?.resume()  // what waited at the pause comes before what was missed
    super.resume(deliveringMissed: deliveringMissed)
    for other in others { _ = kvo_observation_resume(other, deliveringMissed) }
  }

  override var endReasons: (kvo_end) -> EndReason {
    let (end, reason) = (end, super.endReasons)
    return { end?.receiverHasDied == true ? .receiverDied : reason($0) }
  }

  override var knownEnd: kvo_end { end?.known ?? super.knownEnd }

  @discardableResult
  override func onEnd(_ handler: @escaping @Sendable (EndReason) -> Void) -> Self {
    guard !others.isEmpty else { return super.onEnd(handler) }
    let left = Countdown(from: others.count + 1)
    let last: @Sendable (EndReason) -> Void = { reason in if left.next() { handler(reason) } }
    super.onEnd(last)
    // Each has an end of its own; the last one is told.
    for other in others {
      let token = ExtendedObservation(other, end: end ?? ReceiverEnd())
      if isInvalidated { token.markInvalidated() }
      token.onEnd(last)
    }
    return self
  }
}

/// Counts to zero, on any thread.
private final class Countdown: Sendable {
  private let left: Atomic<Int>

  init(from count: Int) { left = Atomic(count) }

  /// Counts one, and returns whether it was the last.
  func next() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
