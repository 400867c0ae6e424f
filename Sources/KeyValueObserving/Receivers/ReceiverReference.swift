// The receiver of an observation: held weakly by the observation's closure, which ends at the receiver's death.

/// The receiver, as the observation's closure holds it.
@usableFromInline
class ReceiverReference<Receiver: AnyObject>: @unchecked Sendable {
  @usableFromInline final let receiver: UnretainedObject<Receiver>
  @usableFromInline final let end: ObservationEnd

  @usableFromInline
  init(_ receiver: Receiver) {
    self.receiver = UnretainedObject(receiver)
    end = ObservationEnd(receiver: UnsafeRawPointer(self.receiver.address))
  }

  /// Returns the receiver. If it has died, ends the observation and returns `nil`.
  @inlinable
  @inline(__always)
  final func load() -> Receiver? {
    if let receiver = receiver.load() { return receiver }
    receiverDied()
    return nil
  }

  @usableFromInline
  @inline(never)
  final func receiverDied() { end.receiverDied() }

  /// Makes the token of the observations, which end when the receiver dies.
  @usableFromInline
  final func token(_ observations: [UInt64], of receiver: Receiver) -> NSKeyValueObservation {
    token(observations.first ?? 0, Array(observations.dropFirst()), of: receiver)
  }

  @usableFromInline
  final func token(
    _ observation: UInt64, _ others: [UInt64] = [], of receiver: Receiver
  ) -> NSKeyValueObservation {
    follow(observation, others, of: receiver)
    return token
  }

  /// Sets the observations when they have been registered, and has the receiver's death end them.
  @usableFromInline
  final func follow(_ observation: UInt64, _ others: [UInt64] = [], of receiver: Receiver) {
    end.follow(observation, others)
    end.watchReceiver(receiver)
  }

  /// The token, also before the observations are registered.
  @usableFromInline final var token: NSKeyValueObservation { ExtendedObservation(end, endsOnRelease: false) }
}
