// What keeps a binding from answering itself, and brings it to an end where its two sides do not agree.

import CKVO
import Synchronization

/// The state of a one-way binding while it sets its target.
///
/// The target's setter, and observers of the target, may set the source again. The binding does not answer at once: after it has set the
/// target it looks whether its source has changed meanwhile, and if so sets the target to the present value. So a cycle of bindings
/// nests once, and comes to an end when its values are equal.
@usableFromInline
final class BindingState: @unchecked Sendable {
  /// Counts the changes of the source.
  private let changes = Atomic<UInt>(0)
  private let mark = TransferMark()
  private let rounds = Atomic<Int>(0)
  private let isReported = Atomic<Bool>(false)
  /// How many reports there had been when this binding began to set its target.
  private let reportsBefore = Atomic<UInt>(0)
  private static let reports = Atomic<UInt>(0)
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

  /// Notes a change of the source. Returns the number of changes; 0 if this thread is setting the target, and shall look afterwards.
  @usableFromInline
  func begin() -> UInt {
    let count = changes.add(1, ordering: .sequentiallyConsistent).newValue
    guard !mark.isOnThisThread else {
      reportIfEndless()
      return 0
    }
    reportsBefore.store(Self.reports.load(ordering: .relaxed), ordering: .relaxed)
    return count
  }

  /// Sets the target. Returns whether the source has not changed meanwhile.
  @usableFromInline
  func set(_ count: UInt, _ body: () -> Void) -> Bool {
    mark.run(body)
    // A cycle is told once, not once for each of its bindings.
    if Self.reports.load(ordering: .relaxed) != reportsBefore.load(ordering: .relaxed) {
      isReported.store(true, ordering: .relaxed)
    }
    return changes.load(ordering: .sequentiallyConsistent) == count
  }

  /// Sets the target again until it has the present value of the source.
  @usableFromInline
  func settle<Value>(_ first: Value, _ read: () -> Value?, _ set: (Value) -> Void) {
    let agree = agreement(of: Value.self)
    var sent = first
    rounds.store(0, ordering: .relaxed)
    while true {
      let count = changes.load(ordering: .sequentiallyConsistent)
      guard !life.hasEnded, let value = read(), !agree(value, sent) else { return }
      if rounds.add(1, ordering: .relaxed).newValue > Self.mostRounds { return }
      sent = value
      if self.set(count, { set(value) }) { return }
    }
  }

  /// Called in the answer of a cycle, where the deliveries in progress show its chain.
  private func reportIfEndless() {
    guard rounds.load(ordering: .relaxed) == Self.mostRounds,
      !isReported.exchange(true, ordering: .relaxed)
    else { return }
    Self.reports.add(1, ordering: .relaxed)
    raiseUnsettled(
      "the bindings that lead from \(source().text) to \(target.text), and back, do not agree after \(Self.mostRounds) rounds "
        + "(KVO_MAX_ROUNDS); both keep their last values", site)
  }

  static let mostRounds = Int(kvo_binding_max_rounds())
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
