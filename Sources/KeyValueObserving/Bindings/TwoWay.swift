// The two sides of a two-way binding, and the transfer of a value from one to the other.

public import CKVO
import Synchronization

/// One side of a two-way binding: a property of an object, which is not retained.
@usableFromInline
final class TwoWaySide<Object: KeyValueObservable, Value>: @unchecked Sendable {
  @usableFromInline let object: UnretainedObject<Object>
  @usableFromInline let keyPath: ReferenceWritableKeyPath<Object, Value>
  @usableFromInline let property: BoundProperty<Object, Value>
  @usableFromInline let agree: (Value, Value) -> Bool
  /// Decides whether what the property has made of a value needs no correction of the other side: what it has now, and what was set.
  /// Without it, they have to be the same.
  @usableFromInline let accepted: ((Value, Value) -> Bool)?
  /// Whether the transfer ends if the property stays as it is when it is corrected: a value of the wrong type was refused on both sides.
  @usableFromInline let mayRefuse: Bool
  @usableFromInline let origin: SourceOrigin
  @usableFromInline let changes = SideChanges()

  @inlinable
  init(_ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
    self.object = UnretainedObject(object)
    self.keyPath = keyPath
    property = BoundProperty(keyPath, in: object)
    agree = agreement(of: Value.self)
    accepted = nil
    mayRefuse = false
    origin = SourceOrigin(object, name(of: keyPath, in: object))
  }

  init(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ origin: SourceOrigin,
    agree: @escaping (Value, Value) -> Bool, accepts: @escaping (Value, Value) -> Bool, mayRefuse: Bool
  ) {
    self.object = UnretainedObject(object)
    property = BoundProperty(keyPath, in: object)
    (self.keyPath, self.origin, self.agree, accepted) = (keyPath, origin, agree, accepts)
    self.mayRefuse = mayRefuse
  }

  @inlinable
  @inline(__always)
  func accepts(_ made: Value, _ sent: Value) -> Bool {
    if let accepted { return accepted(made, sent) }
    return haveSameBits(made, sent) || agree(made, sent)
  }
}

/// Whether two values are words that are the same, which for plain values is enough.
@inlinable
@inline(__always)
func haveSameBits<Value>(_ one: Value, _ other: Value) -> Bool {
  guard _isPOD(Value.self), MemoryLayout<Value>.size == 8 else { return false }
  return unsafeBitCast(one, to: UInt64.self) == unsafeBitCast(other, to: UInt64.self)
}

/// One direction of a two-way binding: the receiver's reference of its observation, whose closure retains it.
@usableFromInline
final class TwoWayDirection<Source: KeyValueObservable, SourceValue, Target: KeyValueObservable, TargetValue>:
  ReceiverReference<Target>, @unchecked Sendable
{
  @usableFromInline let transfer: TwoWayTransfer
  @usableFromInline let from: TwoWaySide<Source, SourceValue>
  @usableFromInline let to: TwoWaySide<Target, TargetValue>
  @usableFromInline let convert: (SourceValue) -> TargetValue
  @usableFromInline let answer: (TargetValue) -> SourceValue

  @usableFromInline
  init(
    _ transfer: TwoWayTransfer, _ from: TwoWaySide<Source, SourceValue>, _ to: TwoWaySide<Target, TargetValue>,
    _ target: Target, _ convert: @escaping (SourceValue) -> TargetValue,
    _ answer: @escaping (TargetValue) -> SourceValue
  ) {
    (self.transfer, self.from, self.to, self.convert, self.answer) = (transfer, from, to, convert, answer)
    super.init(target)
  }

  /// Called with the record of a change of a property.
  @inlinable
  @inline(__always)
  func changed(_ change: UnsafePointer<kvo_raw_change>) {
    let turn = transfer.marks.begin(from.changes, transfer)
    if turn.isAnswer { return }
    guard let target = load() else { return }
    guard change.pointee.kind == KVO_CHANGE_SETTING else { return transferPresent(target, turn) }
    guard let value = change.pointee.new_value else { return }
    transfer.changed(
      value.assumingMemoryBound(to: SourceValue.self).pointee, from, to, target, turn, convert, answer)
  }

  /// Called when the value has to be read.
  @usableFromInline
  @inline(never)
  func transferPresent(_ target: Target, _ turn: TransferTurn) {
    guard let source = from.object.load() else { return }
    transfer.changed(from.property.get(source), from, to, target, turn, convert, answer)
  }

  /// Called with a value of the source, which was made before this thread's turn: another thread may have set the target to a newer one.
  /// On an actor it was not, because all values come there one after the other.
  @inlinable
  func changed(to value: SourceValue, _ isOnActor: Bool) {
    let turn =
      isOnActor ? transfer.marks.beginOnActor(from.changes) : transfer.marks.begin(from.changes, transfer)
    if turn.isAnswer { return }
    guard let target = load() else { return }
    guard turn.isAlone else { return transferPresent(target, turn) }
    transfer.changed(value, from, to, target, turn, convert, answer)
  }
}

/// A two-way binding while it transfers a value.
@usableFromInline
final class TwoWayTransfer: @unchecked Sendable {
  @usableFromInline let marks = TransferMarks()
  private let isReported = Atomic<Bool>(false)
  /// Whether there are conversions, which have to be checked.
  @usableFromInline let converts: Bool
  @usableFromInline let life = BindingLife()
  @usableFromInline let applied: (() -> Void)?
  private let text: String
  private let site: SourceLocation

  @usableFromInline
  init(
    _ left: SourceOrigin, _ right: SourceOrigin, converts: Bool, applied: (() -> Void)?, _ site: SourceLocation
  ) {
    self.converts = converts
    self.applied = applied
    text = "\(left.text) and \(right.text)"
    self.site = site
  }

  /// Sets a side, which does not answer meanwhile.
  func set<Object, Value>(_ side: TwoWaySide<Object, Value>, of object: Object, to value: Value) {
    marks.run(self) {
      side.property.set(object, value)
      applied?()
    }
  }

  /// Called when one side has changed: sets the other one.
  ///
  /// - Parameters:
  ///   - value: Reads the value. Called after the turn has begun, so that it is not older than what another thread has set.
  ///   - convert: Converts to the other side's values.
  ///   - answer: Converts back.
  func changed<Source, SourceValue, Target, TargetValue>(
    _ value: @autoclosure () -> SourceValue, _ from: TwoWaySide<Source, SourceValue>,
    _ to: TwoWaySide<Target, TargetValue>, _ target: Target, _ convert: (SourceValue) -> TargetValue,
    _ answer: (TargetValue) -> SourceValue
  ) {
    let turn = marks.begin(from.changes, self)
    if !turn.isAnswer { changed(value(), from, to, target, turn, convert, answer) }
  }

  @inlinable
  @inline(__always)
  func changed<Source, SourceValue, Target, TargetValue>(
    _ value: SourceValue, _ from: TwoWaySide<Source, SourceValue>, _ to: TwoWaySide<Target, TargetValue>,
    _ target: Target, _ turn: TransferTurn, _ convert: (SourceValue) -> TargetValue,
    _ answer: (TargetValue) -> SourceValue
  ) {
    let sent = convert(value)
    if !isPresent(sent, in: to.property, of: target) {
      marks.run(turn, self) {
        to.property.set(target, sent)
        applied?()
      }
    }
    if marks.isUnchanged(from.changes, since: turn), to.accepts(to.property.get(target), sent) {
      if converts { check(value, sent, from, to, convert, answer) }
      return
    }
    settle(value, sent, from, to, target, convert, answer)
  }

  /// Transfers again while one of the sides has changed meanwhile: the source, or the target, whose setter may have made another value.
  @usableFromInline
  @inline(never)
  func settle<Source, SourceValue, Target, TargetValue>(
    _ value: SourceValue, _ first: TargetValue, _ from: TwoWaySide<Source, SourceValue>,
    _ to: TwoWaySide<Target, TargetValue>, _ target: Target, _ convert: (SourceValue) -> TargetValue,
    _ answer: (TargetValue) -> SourceValue
  ) {
    guard let source = from.object.load() else { return }
    var (value, sent) = (value, first)
    var rounds = SettlingRounds(marks)
    while rounds.next(marks), !life.hasEnded {
      if rounds.areMany, marks.isTakenOver(from.changes, to.changes) { return }
      let present = from.property.get(source)
      if !from.agree(present, value) {
        (value, sent) = (present, convert(present))
        set(to, of: target, to: sent)
      } else {
        let made = to.property.get(target)
        if to.accepts(made, sent) { return }
        let corrected = answer(made)
        if from.agree(value, corrected) { return }
        (value, sent) = (corrected, made)
        set(from, of: source, to: corrected)
        if from.mayRefuse, from.agree(from.property.get(source), present) { return }
      }
    }
    if !life.hasEnded {
      report(
        "do not agree after \(SettlingRounds.most) rounds (KVO_MAX_ROUNDS): each makes another value of the other one's"
      )
    }
  }

  /// Checks that converting back and forth comes to values that stay, be it after rounding.
  @usableFromInline
  func check<Source, SourceValue, Target, TargetValue>(
    _ value: SourceValue, _ sent: TargetValue, _ from: TwoWaySide<Source, SourceValue>,
    _ to: TwoWaySide<Target, TargetValue>, _ convert: (SourceValue) -> TargetValue,
    _ answer: (TargetValue) -> SourceValue
  ) {
    var back = answer(sent)
    if from.agree(back, value) || isReported.load(ordering: .relaxed) { return }
    for _ in 0..<SettlingRounds.most {
      let next = answer(convert(back))
      if from.agree(next, back) { return }
      back = next
    }
    report(
      "never agree: converting back and forth makes another value each time, for \(SettlingRounds.most) rounds (KVO_MAX_ROUNDS)"
    )
  }

  private func report(_ reason: String) {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    raiseUnsettled("\(text), bound in both directions, \(reason); both keep their last values", site)
  }
}
