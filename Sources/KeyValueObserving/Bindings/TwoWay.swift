// The two directions of a two-way binding.

public import CKVO

/// One side of a two-way binding: a property of an object, which is not retained.
@usableFromInline
final class TwoWaySide<Object: KeyValueObservable, Value>: @unchecked Sendable {
  @usableFromInline let object: UnretainedObject<Object>
  @usableFromInline let keyPath: ReferenceWritableKeyPath<Object, Value>
  @usableFromInline let target: BindingTarget<Object, Value>
  @usableFromInline let origin: SourceOrigin

  @usableFromInline
  init(_ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
    self.object = UnretainedObject(object)
    self.keyPath = keyPath
    target = BindingTarget(BoundProperty(keyPath, in: object))
    origin = SourceOrigin(object, name(of: keyPath, in: object))
  }
}

/// What one direction has sent last: the side that gets it does not answer.
@usableFromInline
final class Sent<SourceValue, TargetValue>: @unchecked Sendable {
  @usableFromInline
  struct Transfer {
    @usableFromInline let value: SourceValue
    @usableFromInline let sent: TargetValue
    @usableFromInline let serial: UInt64

    @inlinable
    init(_ value: SourceValue, _ sent: TargetValue, serial: UInt64) {
      (self.value, self.sent, self.serial) = (value, sent, serial)
    }
  }

  @usableFromInline let last = Guarded<Transfer?>(nil)
  /// Whether a transfer may be kept after it: its values keep no object.
  @usableFromInline let isKept = holdsNoObject(SourceValue.self) && holdsNoObject(TargetValue.self)

  @usableFromInline
  init() {}

  @inlinable
  func note(_ value: SourceValue, _ sent: TargetValue) {
    exchange(Transfer(value, sent, serial: kvo_settling_serial()))
  }

  @inlinable
  func load() -> Transfer? { isKept ? last.withLock { $0 } : exchange(nil) }

  @inlinable
  @discardableResult
  func exchange(_ new: Transfer?) -> Transfer? {
    // The one before is released when the lock is free.
    var transfer = new
    last.withLock { swap(&$0, &transfer) }
    return transfer
  }
}

/// One direction of a two-way binding: the receiver's reference of its observation, whose closure retains it.
@usableFromInline
final class TwoWayDirection<Source: KeyValueObservable, SourceValue, Target: KeyValueObservable, TargetValue>:
  ReceiverReference<Target>, @unchecked Sendable
{
  @usableFromInline let from: TwoWaySide<Source, SourceValue>
  @usableFromInline let to: TwoWaySide<Target, TargetValue>
  @usableFromInline let convert: (SourceValue) -> TargetValue
  @usableFromInline let sent: Sent<SourceValue, TargetValue>
  @usableFromInline let received: Sent<TargetValue, SourceValue>
  @usableFromInline let applied: (() -> Void)?

  @usableFromInline
  init(
    _ from: TwoWaySide<Source, SourceValue>, _ to: TwoWaySide<Target, TargetValue>, _ target: Target,
    _ convert: @escaping (SourceValue) -> TargetValue, _ sent: Sent<SourceValue, TargetValue>,
    _ received: Sent<TargetValue, SourceValue>, _ applied: (() -> Void)?
  ) {
    (self.from, self.to, self.convert, self.applied) = (from, to, convert, applied)
    (self.sent, self.received) = (sent, received)
    super.init(target)
  }

  /// Called with the record of a change of a property.
  @inlinable
  func changed(_ change: UnsafePointer<kvo_raw_change>) {
    if change.pointee.kind != KVO_CHANGE_SETTING {
      // Without memory to settle, the runtime calls a binding like any other observer, with the elements that have changed.
      changed()
    } else if let value = change.pointee.new_value {
      changed(to: value.assumingMemoryBound(to: SourceValue.self).pointee)
    }
  }

  /// Called when the side has changed. A value that has waited for its delivery counts no more if the side has been set since.
  @inlinable
  func changed() {
    if let source = from.object.load() { changed(to: from.target.property.get(source)) }
  }

  /// Called with the present value of the side that has changed.
  @inlinable
  func changed(to value: SourceValue) {
    guard let target = load(), !isAnswer(value, target) else { return }
    let converted = convert(value)
    guard to.target.differs(target, from: converted) else { return }
    sent.note(value, converted)
    to.target.property.set(target, converted)
    applied?()
  }

  /// Returns whether a value is the one that the other direction has sent, and so needs no answer: in the same settling, or as long as the
  /// other side has the value that it was made of.
  @inlinable
  func isAnswer(_ value: SourceValue, _ target: Target) -> Bool {
    guard let received = received.load(), from.target.areSame(value, received.sent) else { return false }
    if received.serial != 0, received.serial == kvo_settling_serial() { return true }
    return to.target.areSame(to.target.property.get(target), received.value)
  }
}
