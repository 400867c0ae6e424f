// The end of an observation, as all that take part in it know it.

import CKVO
import Synchronization

/// What the token, the receiver, the pending changes and the table of bindings share of an observation: the runtime's IDs, which are
/// several for several sources, and how it ends. It may be ended before it is registered, in its initial call for instance.
@usableFromInline
final class ObservationEnd: DeathObserver, @unchecked Sendable {
  typealias Reason = NSKeyValueObservation.EndReason

  private struct State {
    /// How many of the observations have not ended: before they are registered, one.
    var left = 1
    /// Whether a pending change may be delivered.
    var delivers = false
    /// How the program has ended it.
    var wanted: Reason?
    /// Why the last one has ended.
    var ended: Reason?
    /// The same, when no call is in progress any more.
    var reason: Reason?
    var handlers: [Handler] = []
    var remembered: [RememberedValue] = []
  }

  private struct Handler {
    let call: @Sendable (Reason) -> Void
  }

  /// 0 until they are registered. The others are set before, and not changed afterwards.
  private let first = Atomic<UInt64>(0)
  private nonisolated(unsafe) var others: [kvo_observation] = []
  private let state = Guarded(State())
  /// Whether what the program ends for one of several sources ends for all: the others would go on with the values that this one had.
  /// Set before the observations.
  nonisolated(unsafe) var endsTogether = true
  /// Only compared.
  private nonisolated(unsafe) let receiver: UnsafeRawPointer?
  /// The pending changes. They retain this, and the closure. Set before the observations.
  private nonisolated(unsafe) weak var delivery: PendingDelivery?

  @usableFromInline
  init(receiver: UnsafeRawPointer? = nil) { self.receiver = receiver }

  func setDelivery(_ delivery: PendingDelivery) {
    self.delivery = delivery
    state.withLock { $0.delivers = true }
  }

  /// Has a value notice each `resume()` until the observation ends.
  @usableFromInline
  func remember(_ value: RememberedValue) { state.withLock { $0.remembered.append(value) } }

  // ------------------------------------------------------------------------------------------------- Its observations

  private func forEach(_ body: (kvo_observation) -> Void) {
    let first = first.load(ordering: .acquiring)
    guard first != 0 else { return }
    body(first)
    for other in others { body(other) }
  }

  /// Sets the observations when they have been registered: 0 if that was refused.
  func follow(_ first: kvo_observation, _ others: [kvo_observation] = []) {
    delivery?.registered()
    state.withLock { $0.left += others.count }
    if first == 0 { return hasEnded(KVO_END_REMOVED) }
    self.others = others
    self.first.store(first, ordering: .releasing)
    forEach(noteEnd)
    if state.withLock({ $0.wanted != nil }) { forEach { kvo_cancel_observer($0) } }
  }

  private func noteEnd(of observation: kvo_observation) {
    let context = Unmanaged.passRetained(self)
    let status = kvo_observation_on_end(
      observation, { Unmanaged<ObservationEnd>.fromOpaque($1!).takeRetainedValue().hasEnded($0) }, context.toOpaque())
    guard status != KVO_OK else { return }
    context.release()
    // Its object may have died. Or there is no memory, and an observation that does not tell of its end has to end.
    kvo_cancel_observer(observation)
    hasEnded(KVO_END_REMOVED, endingOthers: status == KVO_ERROR_OUT_OF_MEMORY)
  }

  /// One of the observations has ended, and the runtime makes no call of it any more. The last one says why.
  private func hasEnded(_ end: kvo_end, endingOthers: Bool = true) {
    var endsOthers = false
    let forgotten = state.withLock { state -> [RememberedValue]? in
      state.left -= 1
      guard state.left == 0 else {
        endsOthers = endingOthers && endsTogether && end == KVO_END_REMOVED && state.wanted == nil
        if endsOthers { state.wanted = .invalidated }
        return nil
      }
      state.ended = end == KVO_END_OBJECT_DIED ? .objectDied : state.wanted ?? .invalidated
      defer { state.remembered = [] }
      return state.remembered
    }
    if endsOthers { forEach { kvo_cancel_observer($0) } }
    // What is remembered is released here, without the lock.
    guard forgotten != nil else { return }
    stopWatching()
    finish()
  }

  /// The runtime and the place of the delivery have released the pending changes: no call of the observer is in progress.
  func deliveryHasEnded() {
    state.withLock { $0.delivers = false }
    finish()
  }

  private func finish() {
    let ended = state.withLock { state -> (reason: Reason, handlers: [Handler])? in
      guard let reason = state.ended, !state.delivers, state.reason == nil else { return nil }
      state.reason = reason
      defer { state.handlers = [] }
      return (reason, state.handlers)
    }
    guard let ended else { return }
    for handler in ended.handlers { handler.call(ended.reason) }
  }

  /// Whether one of the observations is registered.
  var isActive: Bool { contains(where: kvo_observation_is_registered) }
  var isPaused: Bool { contains(where: kvo_observation_is_paused) }
  /// Whether it was registered, and is so no more.
  @usableFromInline var isOver: Bool { first.load(ordering: .acquiring) != 0 && !isActive }

  private func contains(where condition: (kvo_observation) -> Bool) -> Bool {
    let first = first.load(ordering: .acquiring)
    return first != 0 && (condition(first) || others.contains(where: condition))
  }

  func pause() {
    forEach { _ = kvo_observation_pause($0) }
    delivery?.pause()
  }

  func resume(deliveringMissed: Bool) {
    if isPaused { for value in state.withLock({ $0.remembered }) { value.resumed(deliveringMissed: deliveringMissed) } }
    delivery?.resume()  // what was pending at the pause comes before what was missed
    forEach { _ = kvo_observation_resume($0, deliveringMissed) }
  }

  // ------------------------------------------------------------------------------------------------------- How it ends

  /// Ends it. What is being registered is ended as soon as it is.
  func end() { end(.invalidated) { kvo_cancel_observer($0) } }

  func endAndWait(_ site: SourceLocation) {
    end()
    forEach { kvo_cancel_observer_and_wait_at($0, site.cFile, site.cLine) }
  }

  func receiverDied() { end(.receiverDied) { kvo_binding_observer_died($0) } }

  /// There is nothing any more where the observer could be called: an actor, which may be the receiver.
  func placeDied(_ place: UnsafeRawPointer?) {
    end(place != nil && place == receiver ? .receiverDied : .invalidated) { kvo_binding_observer_died($0) }
  }

  private func end(_ reason: Reason, _ end: (kvo_observation) -> Void) {
    state.withLock { if $0.wanted == nil { $0.wanted = reason } }
    forEach(end)
  }

  /// Calls a function when it has ended: at once if it has.
  func onEnd(_ call: @escaping @Sendable (Reason) -> Void) {
    let reason = state.withLock { state in
      if state.reason == nil { state.handlers.append(Handler(call: call)) }
      return state.reason
    }
    if let reason { call(reason) }
  }

  /// Has the receiver's death end it: at once if it is an observable object, otherwise at the next change, or at a later registration.
  func watchReceiver(_ receiver: AnyObject) {
    guard first.load(ordering: .relaxed) != 0 else { return }
    guard let receiver = receiver as? any KeyValueObservable else { return DeadReceivers.add(self, receiver) }
    watch(receiver.adoptedObject)
    // It may have ended meanwhile.
    if state.withLock({ $0.ended != nil }) { stopWatching() }
  }

  override func objectDied() { receiverDied() }
}
