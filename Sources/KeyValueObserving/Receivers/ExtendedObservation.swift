// The token of an observation that is more than an ID: with a receiver, with a delivery elsewhere, or of several sources.

final class ExtendedObservation: NSKeyValueObservation, @unchecked Sendable {
  private let end: ObservationEnd
  /// That of the other direction of a binding, with which it ends.
  private let other: ObservationEnd?
  private let endsOnRelease: Bool

  /// - Parameter endsOnRelease: Whether the release of the token ends the observation: with a receiver it does not.
  init(_ end: ObservationEnd, with other: ObservationEnd? = nil, endsOnRelease: Bool) {
    self.end = end
    self.other = other
    self.endsOnRelease = endsOnRelease
    super.init(0, endsOnRelease: false)
  }

  deinit { if endsOnRelease { invalidate() } }

  override func invalidate() {
    end.end()
    other?.end()
  }

  override func invalidateAndWait(fileID: StaticString = #fileID, line: UInt = #line) {
    let site = SourceLocation(file: fileID, line: line)
    invalidate()  // before it waits for the first
    end.endAndWait(site)
    other?.endAndWait(site)
  }

  override var isActive: Bool { end.isActive && other?.isActive ?? true }

  override var isPaused: Bool { end.isPaused && other?.isPaused ?? true }

  override func pause() {
    end.pause()
    other?.pause()
  }

  override func resume(deliveringMissed: Bool = false) {
    end.resume(deliveringMissed: deliveringMissed)
    other?.resume(deliveringMissed: deliveringMissed)
  }

  @discardableResult
  override func onEnd(_ handler: @escaping @Sendable (EndReason) -> Void) -> Self {
    end.onEnd(handler)
    return self
  }
}

extension NSKeyValueObservation {
  /// Makes the token of observations without a receiver, which the token keeps.
  @usableFromInline
  static func keeping(_ observations: [UInt64], _ end: ObservationEnd = ObservationEnd()) -> NSKeyValueObservation {
    end.follow(observations.first ?? 0, Array(observations.dropFirst()))
    return ExtendedObservation(end, endsOnRelease: true)
  }
}
