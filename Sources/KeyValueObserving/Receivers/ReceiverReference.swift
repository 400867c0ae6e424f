// The receiver of an observation: held weakly by the observation's closure, which ends at the receiver's death.

import CKVO
import Foundation
import Synchronization

/// The receiver, as the observation's closure holds it.
@usableFromInline
class ReceiverReference<Receiver: AnyObject>: @unchecked Sendable {
  @usableFromInline final let receiver: UnretainedObject<Receiver>
  final let end = ReceiverEnd()

  @usableFromInline
  init(_ receiver: Receiver) { self.receiver = UnretainedObject(receiver) }

  // The observation has ended, and its closure is destroyed.
  deinit { end.close() }

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

  /// Makes the token of the observation, which ends when the receiver dies. Those of several key paths have one token.
  @usableFromInline
  final func token(
    _ observation: UInt64, others: [UInt64] = [], of receiver: Receiver,
    delivery: PendingDelivery? = nil
  ) -> NSKeyValueObservation {
    end.follow(observation, others, receiver)
    delivery?.setReceiver { _ = self.load() }
    return ExtendedObservation(observation, others: others, end: end, delivery: delivery)
  }

  @usableFromInline
  final func token(_ observation: UInt64, of receiver: Receiver) -> NSKeyValueObservation {
    token(observation, others: [], of: receiver)
  }

  @usableFromInline
  final func token<Value>(
    _ observation: UInt64, of receiver: Receiver, _ delivery: ActorDelivery<Value>
  ) -> NSKeyValueObservation {
    token(observation, others: [], of: receiver, delivery: delivery.pending)
  }
}

/// What an observation, its token and the runtime's watch of the receiver's death have in common.
final class ReceiverEnd: Sendable {
  private let observation = Atomic<UInt64>(0)
  /// Set before `observation`, and not changed afterwards.
  private nonisolated(unsafe) var others: [kvo_observation] = []
  /// The runtime's ID of the watch, if the receiver is an observable object.
  private let watch = Atomic<UInt64>(0)
  private let isClosed = Atomic<Bool>(false)
  private let hasDied = Atomic<Bool>(false)

  /// How the observation has ended; `nil` if it has not.
  var known: kvo_end? {
    let known = ending.load(ordering: .relaxed)
    return known == 0 ? nil : kvo_end(known - 1)
  }
  private let ending = Atomic<UInt32>(0)

  /// Whether the observation has ended, and its closure is destroyed.
  var hasEnded: Bool { isClosed.load(ordering: .relaxed) }
  var receiverHasDied: Bool { hasDied.load(ordering: .relaxed) }

  private static nonisolated(unsafe) let operations: UnsafePointer<kvo_observer_ops> = {
    let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_observer_ops(
        callback: { _, _ in },
        destroy: { Unmanaged<ReceiverEnd>.fromOpaque($0!).takeRetainedValue().receiverDied() }, abandon: nil,
        evaluate: nil, release: nil, same: nil, is_here: nil, ask: nil, of_property: nil))
    return UnsafePointer(operations)
  }()

  /// Ends this observation when the receiver dies: at once if it is an observable object, otherwise at the next change, or at a
  /// later registration.
  func follow(_ observation: kvo_observation, _ others: [kvo_observation], _ receiver: AnyObject) {
    guard observation != 0 else { return }
    self.others = others
    self.observation.store(observation, ordering: .releasing)
    noteEnd(of: observation)
    guard let receiver = receiver as? any KeyValueObservable else { return DeadReceivers.add(self, receiver) }
    let context = Unmanaged.passRetained(self)
    var made: kvo_observation = 0
    guard kvo_binding_observe_death(receiver.adoptedObject, Self.operations, context.toOpaque(), &made) == KVO_OK else {
      return context.release()
    }
    watch.store(made, ordering: .sequentiallyConsistent)
    // The observation may have ended meanwhile.
    if isClosed.load(ordering: .sequentiallyConsistent) { kvo_cancel_observer(made) }
  }

  /// Has the reason kept for those who ask later.
  private func noteEnd(of observation: kvo_observation) {
    let context = Unmanaged.passRetained(self)
    let status = kvo_observation_on_end(
      observation,
      { end, context in
        Unmanaged<ReceiverEnd>.fromOpaque(context!).takeRetainedValue().ending.store(
          end.rawValue + 1, ordering: .relaxed)
      }, context.toOpaque())
    guard status == KVO_ERROR_NOT_REGISTERED else { return }
    context.release()
    ending.store(KVO_END_REMOVED.rawValue + 1, ordering: .relaxed)
  }

  func receiverDied() {
    guard !isClosed.load(ordering: .relaxed) else { return }
    hasDied.store(true, ordering: .relaxed)
    let observation = observation.load(ordering: .acquiring)
    guard observation != 0 else { return }
    kvo_binding_observer_died(observation)
    for other in others { kvo_binding_observer_died(other) }
  }

  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    let made = watch.load(ordering: .sequentiallyConsistent)
    if made != 0 { kvo_cancel_observer(made) }
  }
}
