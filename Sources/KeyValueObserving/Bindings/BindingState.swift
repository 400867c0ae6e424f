// What keeps a binding from answering itself, and brings it to an end where its two sides do not agree.

public import CKVO
import CSwiftRuntime
import Synchronization

/// A one-way binding: the receiver's reference of its observation, whose closure retains it.
///
/// The target's setter, and observers of the target, may set the source again. The binding does not answer at once: after it has set the
/// target it looks whether its source has changed meanwhile, and if so sets the target to the present value. So a cycle of bindings
/// nests once, and comes to an end when its values are equal.
@usableFromInline
final class OneWayBinding<Target: AnyObject, Value>: ReceiverReference<Target>, @unchecked Sendable {
  // What each change uses comes first.
  @usableFromInline let marks = TransferMarks()
  @usableFromInline let changes = SideChanges()
  @usableFromInline let property: BoundProperty<Target, Value>
  @usableFromInline let applied: (() -> Void)?
  @usableFromInline let read: () -> Value?
  @usableFromInline let state: BindingState

  @usableFromInline
  init(
    _ target: Target, _ property: BoundProperty<Target, Value>, _ applied: (() -> Void)?,
    _ read: @escaping () -> Value?, _ state: BindingState
  ) {
    (self.property, self.applied, self.read, self.state) = (property, applied, read, state)
    super.init(target)
  }

  /// Called with the record of a change of a property.
  @inlinable
  @inline(__always)
  func changed(_ change: UnsafePointer<kvo_raw_change>) {
    // Before the value is read: a thread that does not find the other one's change then has a newer value.
    let turn = marks.begin(changes, self)
    if turn.isAnswer { return state.answered() }
    guard let target = load() else { return }
    guard change.pointee.kind == KVO_CHANGE_SETTING else { return transferWhole(to: target, turn) }
    guard let value = change.pointee.new_value else { return }
    transfer(value.assumingMemoryBound(to: Value.self).pointee, to: target, turn)
  }

  /// Called with a value of the source, which was made before this thread's turn: another thread may have set the target to a newer one.
  /// On an actor it was not, because all values come there one after the other.
  @inlinable
  func changed(to value: Value, _ isOnActor: Bool) {
    let turn = isOnActor ? marks.beginOnActor(changes) : marks.begin(changes, self)
    if turn.isAnswer { return state.answered() }
    if let target = load() { transfer(turn.isAlone ? value : read() ?? value, to: target, turn) }
  }

  /// Called when elements of a collection have changed.
  @usableFromInline
  @inline(never)
  func transferWhole(to target: Target, _ turn: TransferTurn) {
    if let value = read() { transfer(value, to: target, turn) }
  }

  @inlinable
  @inline(__always)
  func transfer(_ value: Value, to target: Target, _ turn: TransferTurn) {
    let reported = kvo_unsettled_count()
    if !isPresent(value, in: property, of: target) {
      marks.run(turn, self) {
        property.set(target, value)
        applied?()
      }
    }
    if kvo_unsettled_since(reported) { state.wasReported() }
    if !marks.isUnchanged(changes, since: turn) { settle(value, target) }
  }

  /// Sets the target again until it has the present value of the source.
  @usableFromInline
  @inline(never)
  func settle(_ first: Value, _ target: Target) {
    let agree = agreement(of: Value.self)
    var sent = first
    var rounds = SettlingRounds(marks)
    while rounds.next(marks), !state.life.hasEnded {
      if rounds.areMany, marks.isTakenOver(changes, changes) { return }
      let count = changes.count.load(ordering: .sequentiallyConsistent)
      marks.forgetAnswer(changes)
      guard let value = read(), !agree(value, sent) else { return }
      sent = value
      let reported = kvo_unsettled_count()
      marks.run(self) {
        state.inRound(isLast: rounds.isLast) {
          property.set(target, value)
          applied?()
        }
      }
      if kvo_unsettled_since(reported) { state.wasReported() }
      let isAnswered = changes.isAnswered.load(ordering: .relaxed)
      if !isAnswered, changes.count.load(ordering: .sequentiallyConsistent) == count { return }
    }
    if !state.life.hasEnded { state.report() }
  }
}

/// What brings a one-way binding to an end where its two sides do not agree.
@usableFromInline
final class BindingState: @unchecked Sendable {
  private let isReported = Atomic<Bool>(false)
  /// The thread that sets the target in the last round, or 0.
  private let lastRound = Atomic<UInt>(0)
  @usableFromInline let life = BindingLife()
  private let target: SourceOrigin
  private let source: () -> [SourceOrigin]
  private let site: SourceLocation

  @usableFromInline
  init(_ target: SourceOrigin, _ source: @escaping () -> [SourceOrigin], _ site: SourceLocation) {
    self.target = target
    self.source = source
    self.site = site
  }

  /// Runs the code that sets the target in a round.
  func inRound(isLast: Bool, _ body: () -> Void) {
    guard isLast else { return body() }
    lastRound.store(kvo_this_thread(), ordering: .relaxed)
    body()
    lastRound.store(0, ordering: .relaxed)
  }

  /// Called in the answer of a cycle, where the deliveries in progress show its chain.
  @usableFromInline
  @inline(never)
  func answered() {
    if lastRound.load(ordering: .relaxed) == kvo_this_thread() { report() }
  }

  /// Tells that there were too many rounds, once for a binding.
  func report() {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    kvo_unsettled_add()
    raiseUnsettled(
      "the bindings that lead from \(source().text) to \(target.text), and back, do not agree after \(SettlingRounds.most) rounds "
        + "(KVO_MAX_ROUNDS); both keep their last values", site)
  }

  /// Called if the fault was told of another binding while this one set its target: a cycle is told once, not once for each of its
  /// bindings.
  @usableFromInline
  @inline(never)
  func wasReported() { isReported.store(true, ordering: .relaxed) }
}

/// Whether a binding has been ended, which it may be in the middle of a transfer, and before it has a token.
@usableFromInline
final class BindingLife: Sendable {
  private struct Life {
    /// It keeps nothing.
    var token: NSKeyValueObservation?
    var isEnded = false
  }
  private let life = Guarded(Life())

  init() {}

  func follow(_ token: NSKeyValueObservation) {
    let isEnded = life.withLock { life in
      life.token = token
      return life.isEnded
    }
    if isEnded { token.invalidate() }
  }

  func end() {
    let token = life.withLock { life in
      life.isEnded = true
      return life.token
    }
    token?.invalidate()
  }

  @usableFromInline var hasEnded: Bool {
    let life = life.withLock { $0 }
    return life.isEnded || life.token?.isActive == false
  }
}

/// Returns the function that decides whether two values are the same, so that nothing is left to set: by `==`, where two values that are
/// not equal to themselves, such as NaN, are the same; objects by identity. Other values cannot be compared and count as the same.
@usableFromInline
func agreement<Value>(of type: Value.Type) -> (Value, Value) -> Bool {
  func equating<Known: Equatable>(_: Known.Type) -> (Value, Value) -> Bool {
    let agree: (Known, Known) -> Bool = { $0 == $1 || ($0 != $0 && $1 != $1) }
    return agree as! (Value, Value) -> Bool
  }
  if let known = type as? any Equatable.Type { return equating(known) }
  let unwrapped = (type as? any OptionalProtocol.Type)?.wrappedType ?? type
  return unwrapped is AnyObject.Type ? { isEqual($0, $1) } : { _, _ in true }
}

func raiseUnsettled(_ detail: String, _ site: SourceLocation) {
  raiseFault(
    KVO_FAULT_UNSETTLED, detail,
    help: "let the conversions, and the setters that correct values, agree on a value; or bind in one direction only",
    site: site)
}
