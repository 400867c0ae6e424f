// The two sides of a two-way binding, and the transfer of a value from one to the other.

import Glibc
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
  /// The thread that transfers a value, or 0. If there are several, one of them.
  private let thread = Atomic<UInt>(0)
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
    begin()
    side.property.set(object, value)
    end()
  }

  @usableFromInline
  func begin() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

  @usableFromInline
  func end() {
    applied?()
    thread.store(0, ordering: .relaxed)
  }

  /// Whether this thread sets a side just now.
  @usableFromInline var isTransferring: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

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

  /// Transfers again while the source changes meanwhile, then corrects it once if the target has made another value.
  @usableFromInline
  @inline(never)
  func settle<Source, SourceValue, Target, TargetValue>(
    _ value: SourceValue, _ first: TargetValue, _ from: TwoWaySide<Source, SourceValue>,
    _ to: TwoWaySide<Target, TargetValue>, _ target: Target, _ convert: (SourceValue) -> TargetValue,
    _ answer: (TargetValue) -> SourceValue
  ) {
    guard let source = from.object.load() else { return }
    var (value, sent) = (value, first)
    var rounds = 0
    while true {
      let present = from.property.get(source)
      if life.hasEnded { return }
      if from.agree(present, value) { break }
      rounds += 1
      if rounds > BindingState.mostRounds { return report("do not agree after \(rounds - 1) rounds (KVO_MAX_ROUNDS)") }
      value = present
      sent = convert(present)
      set(to, of: target, to: sent)
    }
    let made = to.property.get(target)
    if to.accepts(made, sent) { return }
    let corrected = answer(made)
    if from.agree(value, corrected) { return }
    set(from, of: source, to: corrected)
    guard from.accepts(from.property.get(source), corrected) else {
      return report("do not agree: each setter makes another value of what the other one has made")
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
