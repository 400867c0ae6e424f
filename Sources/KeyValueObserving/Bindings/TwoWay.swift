// The two sides of a two-way binding, and the transfer of a value from one to the other.

public import Synchronization

/// One side of a two-way binding: a property of an object, which is not retained.
@usableFromInline
final class TwoWaySide<Object: KeyValueObservable, Value>: @unchecked Sendable {
  @usableFromInline let object: UnretainedObject<Object>
  @usableFromInline let keyPath: ReferenceWritableKeyPath<Object, Value>
  @usableFromInline let property: BoundProperty<Object, Value>
  @usableFromInline let agree: (Value, Value) -> Bool
  /// Decides whether what the property has made of a value needs no correction of the other side: what it has now, and what was set.
  @usableFromInline let accepts: (Value, Value) -> Bool
  @usableFromInline let origin: SourceOrigin
  /// Counts the changes of the property.
  @usableFromInline let changes = Atomic<UInt>(0)

  @inlinable
  init(_ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
    self.object = UnretainedObject(object)
    self.keyPath = keyPath
    property = BoundProperty(keyPath, in: object)
    agree = agreement(of: Value.self)
    accepts = agree
    origin = SourceOrigin(object, name(of: keyPath, in: object))
  }

  init(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ origin: SourceOrigin,
    agree: @escaping (Value, Value) -> Bool, accepts: @escaping (Value, Value) -> Bool
  ) {
    self.object = UnretainedObject(object)
    property = BoundProperty(keyPath, in: object)
    (self.keyPath, self.origin, self.agree, self.accepts) = (keyPath, origin, agree, accepts)
  }
}

/// A two-way binding while it transfers a value.
@usableFromInline
final class TwoWayTransfer: @unchecked Sendable {
  private let mark = TransferMark()
  /// Counts the changes that others make, such as other threads.
  private let others = Atomic<UInt>(0)
  private let isReported = Atomic<Bool>(false)
  /// Whether there are conversions, which have to be checked.
  @usableFromInline let converts: Bool
  @usableFromInline let life = BindingLife()
  private let applied: (() -> Void)?
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
  @inlinable
  func set<Object, Value>(_ side: TwoWaySide<Object, Value>, of object: Object, to value: Value) {
    run { side.property.set(object, value) }
  }

  @usableFromInline
  func run(_ body: () -> Void) {
    mark.run {
      body()
      applied?()
    }
  }

  /// Whether this thread sets a side just now. If not, notes a change that the binding has not made.
  @usableFromInline var isTransferring: Bool {
    if mark.isOnThisThread { return true }
    others.add(1, ordering: .relaxed)
    return false
  }

  /// Called when one side has changed: sets the other one.
  ///
  /// - Parameters:
  ///   - convert: Converts to the other side's values.
  ///   - answer: Converts back.
  @inlinable
  func changed<Source, SourceValue, Target, TargetValue>(
    _ value: SourceValue, _ from: TwoWaySide<Source, SourceValue>, _ to: TwoWaySide<Target, TargetValue>,
    _ target: Target, _ convert: (SourceValue) -> TargetValue, _ answer: (TargetValue) -> SourceValue
  ) {
    let count = from.changes.add(1, ordering: .sequentiallyConsistent).newValue
    if isTransferring { return }
    let sent = convert(value)
    set(to, of: target, to: sent)
    if from.changes.load(ordering: .sequentiallyConsistent) == count, to.accepts(to.property.get(target), sent) {
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
    var (rounds, seen) = (0, others.load(ordering: .relaxed))
    while rounds < BindingState.mostRounds, !life.hasEnded {
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
      }
      // Only the binding's own rounds count: what others change meanwhile may go on for long, and comes to its end.
      let count = others.load(ordering: .relaxed)
      rounds = count == seen ? rounds + 1 : 0
      seen = count
    }
    if !life.hasEnded {
      report(
        "do not agree after \(BindingState.mostRounds) rounds (KVO_MAX_ROUNDS): each makes another value of the other one's"
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
    for _ in 0..<BindingState.mostRounds {
      let next = answer(convert(back))
      if from.agree(next, back) { return }
      back = next
    }
    report(
      "never agree: converting back and forth makes another value each time, for \(BindingState.mostRounds) rounds (KVO_MAX_ROUNDS)"
    )
  }

  private func report(_ reason: String) {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    raiseUnsettled("\(text), bound in both directions, \(reason); both keep their last values", site)
  }
}
