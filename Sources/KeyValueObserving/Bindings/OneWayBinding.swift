// What a binding sets, and when it does not.

public import CKVO
public import CSwiftRuntime

/// A one-way binding: the receiver's reference of its observation, whose closure retains it.
///
/// The runtime settles bindings before anyone is notified of a change, each after those that set what it reads, on one thread at a time:
/// the value it is called with is the present one.
@usableFromInline
final class OneWayBinding<Target: AnyObject, Value>: ReceiverReference<Target>, @unchecked Sendable {
  // What each change uses comes first.
  @usableFromInline let target: BindingTarget<Target, Value>
  @usableFromInline let applied: (() -> Void)?
  private let read: () -> Value?

  @usableFromInline
  init(
    _ target: Target, _ property: BoundProperty<Target, Value>, _ applied: (() -> Void)?, _ read: @escaping () -> Value?
  ) {
    (self.target, self.applied, self.read) = (BindingTarget(property), applied, read)
    super.init(target)
  }

  /// Called with the record of a change of a property.
  @inlinable
  @inline(__always)
  func changed(_ change: UnsafePointer<kvo_raw_change>) {
    guard change.pointee.kind == KVO_CHANGE_SETTING else { return changedElements() }
    if let value = change.pointee.new_value { changed(to: value.assumingMemoryBound(to: Value.self).pointee) }
  }

  /// Called with a value of the source.
  @inlinable
  @inline(__always)
  func changed(to value: Value) {
    guard let object = load(), target.differs(object, from: value) else { return }
    target.property.set(object, value)
    applied?()
  }

  /// Called with a change of elements: without memory to settle, the runtime calls a binding like any other observer.
  @usableFromInline
  @inline(never)
  func changedElements() { if let value = read() { changed(to: value) } }
}

/// A property that a binding sets, and how its values are compared.
@usableFromInline
struct BindingTarget<Object: AnyObject, Value> {
  @usableFromInline let property: BoundProperty<Object, Value>
  private let comparison: ValueComparison<Value>?
  private let repetitions: Repetitions?

  @usableFromInline
  init(_ property: BoundProperty<Object, Value>) {
    self.property = property
    comparison = ValueComparison()
    repetitions = comparison == nil ? Repetitions() : nil
  }

  /// Returns whether the property has another value, so that it is to be set.
  @inlinable
  @inline(__always)
  func differs(_ object: Object, from value: Value) -> Bool {
    let present = property.get(object)
    return !haveSameBytes(present, value) && differ(present, value)
  }

  @usableFromInline
  @inline(never)
  func differ(_ present: Value, _ value: Value) -> Bool {
    if let comparison { return !comparison.areSame(present, value) }
    return repetitions!.begin()
  }

  /// Returns whether two values are known to be the same.
  @inlinable
  func areSame(_ first: Value, _ second: Value) -> Bool { haveSameBytes(first, second) || areEqual(first, second) }

  @usableFromInline
  @inline(never)
  func areEqual(_ first: Value, _ second: Value) -> Bool { comparison?.areSame(first, second) ?? false }
}

/// Compares the values of a type: objects by identity, other values by `==`, where two values that are not equal to themselves, such as
/// NaN, are the same.
struct ValueComparison<Value> {
  let areSame: (Value, Value) -> Bool

  /// Returns `nil` if the values cannot be compared.
  init?() {
    func equating<Known: Equatable>(_: Known.Type) -> (Value, Value) -> Bool {
      let areSame: (Known, Known) -> Bool = { $0 == $1 || ($0 != $0 && $1 != $1) }
      return areSame as! (Value, Value) -> Bool
    }
    let unwrapped = (Value.self as? any OptionalProtocol.Type)?.wrappedType ?? Value.self
    if unwrapped is AnyObject.Type {
      areSame = { isIdentical($0, $1) }
    } else if let known = Value.self as? any Equatable.Type {
      areSame = equating(known)
    } else {
      return nil
    }
  }
}

private func isIdentical<Value>(_ first: Value, _ second: Value) -> Bool {
  switch (unwrapped(first), unwrapped(second)) {
  case (nil, nil): true
  case (let first?, let second?): (first as AnyObject) === (second as AnyObject)
  default: false
  }
}

/// How often a binding has set a value that cannot be compared in one settling: a cycle of such values has no other end.
final class Repetitions: Sendable {
  /// More than a few corrections, or the several sources of one binding, need.
  static let most = 16

  private let state = Guarded((serial: UInt64(0), count: 0))

  /// Returns whether the binding may set its target once more.
  func begin() -> Bool {
    let serial = kvo_settling_serial()
    guard serial != 0 else { return true }
    return state.withLock { state in
      state = serial == state.serial ? (serial, state.count + 1) : (serial, 1)
      return state.count <= Self.most
    }
  }
}

/// Whether two values are the same, for all that can be told of them: equal objects, for instance, may differ later. A function of its own,
/// so that the caller needs no memory for it.
@inlinable
@inline(never)
func haveSameBytes<Value>(_ one: Value, _ other: Value) -> Bool {
  withUnsafePointer(to: one) { one in
    withUnsafePointer(to: other) { other in kvo_has_same_bytes(one, other, MemoryLayout<Value>.size) }
  }
}
