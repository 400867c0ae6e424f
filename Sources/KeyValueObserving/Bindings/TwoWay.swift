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

/// The values that the two sides had when they agreed last, and the settling in which they did. A side that has its value has not changed,
/// and sends nothing.
@usableFromInline
final class Agreement<Left, Right>: @unchecked Sendable {
  @usableFromInline typealias Values = (left: Left, right: Right, serial: UInt64)

  @usableFromInline let last = Guarded<Values?>(nil)
  /// Whether the values may be kept: they keep no object alive. Otherwise they are kept until a side is notified of them.
  @usableFromInline let isKept = holdsNoObject(Left.self) && holdsNoObject(Right.self)

  @usableFromInline
  init() {}

  /// - Parameter isSent: Whether a side is set to its value now, so that it will be notified.
  @inlinable
  func note(_ left: Left, _ right: Right, isSent: Bool) {
    exchange(isKept || isSent ? (left, right, kvo_settling_serial()) : nil)
  }

  @inlinable
  func load() -> Values? { isKept ? last.withLock { $0 } : exchange(nil) }

  @inlinable
  @discardableResult
  func exchange(_ new: Values?) -> Values? {
    // The ones before are released when the lock is free.
    var values = new
    last.withLock { swap(&$0, &values) }
    return values
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
  @usableFromInline let agree: (_ source: SourceValue, _ target: TargetValue, _ isSent: Bool) -> Void
  @usableFromInline let agreed: () -> (source: SourceValue, target: TargetValue, serial: UInt64)?
  @usableFromInline let applied: (() -> Void)?
  /// The other direction. Set before the observations are registered.
  @usableFromInline var reverse: UnretainedObject<TwoWayDirection<Target, TargetValue, Source, SourceValue>>?

  @usableFromInline
  init(
    _ from: TwoWaySide<Source, SourceValue>, _ to: TwoWaySide<Target, TargetValue>, _ target: Target,
    _ convert: @escaping (SourceValue) -> TargetValue, _ applied: (() -> Void)?,
    agree: @escaping (SourceValue, TargetValue, Bool) -> Void,
    agreed: @escaping () -> (source: SourceValue, target: TargetValue, serial: UInt64)?
  ) {
    (self.from, self.to, self.convert, self.applied) = (from, to, convert, applied)
    (self.agree, self.agreed) = (agree, agreed)
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
    guard let target = load() else { return }
    if let agreed = agreed(), from.target.areSame(value, agreed.source) {
      // In this settling the other direction follows the other side.
      if agreed.serial != 0, agreed.serial == kvo_settling_serial() { return }
      // If the other side has changed since, it is the one that sends: in a scope, or on another thread.
      let present = to.target.property.get(target)
      if !to.target.areSame(present, agreed.target) { reverse?.load()?.changed(to: present) }
      return
    }
    let converted = convert(value)
    let differs = to.target.differs(target, from: converted)
    agree(value, converted, differs)
    guard differs else { return }
    to.target.property.set(target, converted)
    applied?()
  }
}
