// Two-way bindings.

public import CKVO

extension KeyValueObservable {
  /// Keeps a property of this object, on the left, and a property of another one, on the right, equal by conversions in both directions.
  ///
  /// ```swift
  /// slider.bindTwoWay(\.value, with: model, \.celsius, forward: { Double($0) }, backward: { Int($0.rounded()) })
  /// ```
  /// At first the left side takes the value of the right one. The binding retains neither object and ends with either. Isolation and
  /// threads are those of
  /// ``KeyValueSource/bind(to:_:initially:exclusive:isolation:fileID:line:applied:)-(_,ReferenceWritableKeyPath<Target,Value>,_,_,_,_,_,_)``,
  /// but code of an actor has both sides read and set on that actor: after changes made elsewhere once, later, with the value of that time.
  ///
  /// The side that the binding sets does not answer, so a conversion may round. If its setter makes another value of it, the other side is
  /// corrected. A side that is assigned the value on which both agreed last sends nothing. If both sides change together, in
  /// `withCoalescedChanges`, the left one wins, unless another binding sets it or the right one. If the two setters never agree, it is
  /// fault KVO0024 after KVO_MAX_ROUNDS rounds, and both sides keep their last values.
  ///
  /// - Parameters:
  ///   - left: The property of this object.
  ///   - other: The other object. It is not retained.
  ///   - right: The property of the other object.
  ///   - initially: Which side is set now.
  ///   - exclusive: Whether this binding ends the other ones into the property on the left.
  ///   - forward: Converts from left to right.
  ///   - backward: Converts from right to left.
  ///   - applied: Is called after each time the binding has set a side.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func bindTwoWay<Left, Other: KeyValueObservable, Right>(
    _ left: ReferenceWritableKeyPath<Self, Left>, with other: Other, _ right: ReferenceWritableKeyPath<Other, Right>,
    initially: KeyValueBinding.TwoWayInitially = .set, exclusive: Bool = false,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    forward: @escaping (Left) -> Right, backward: @escaping (Right) -> Left, applied: (() -> Void)? = nil
  ) -> NSKeyValueObservation {
    let (mine, others) = (TwoWaySide(self, left), TwoWaySide(other, right))
    let site = SourceLocation(file: fileID, line: line)
    return bind(mine, others, other, applied, initially, exclusive, isolation, site, forward, backward)
  }

  /// Keeps a property of this object, on the left, and a property of another one, on the right, equal.
  ///
  /// ```swift
  /// nameField.bindTwoWay(\.text, with: person, \.name)
  /// ```
  /// See ``bindTwoWay(_:with:_:initially:exclusive:isolation:fileID:line:forward:backward:applied:)``.
  @inlinable
  @discardableResult
  public func bindTwoWay<Value, Other: KeyValueObservable>(
    _ left: ReferenceWritableKeyPath<Self, Value>, with other: Other, _ right: ReferenceWritableKeyPath<Other, Value>,
    initially: KeyValueBinding.TwoWayInitially = .set, exclusive: Bool = false,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    applied: (() -> Void)? = nil
  ) -> NSKeyValueObservation {
    let (mine, others) = (TwoWaySide(self, left), TwoWaySide(other, right))
    let site = SourceLocation(file: fileID, line: line)
    return bind(mine, others, other, applied, initially, exclusive, isolation, site, { $0 }, { $0 })
  }

  @inlinable
  nonisolated func bind<Left, Other: KeyValueObservable, Right>(
    _ mine: TwoWaySide<Self, Left>, _ others: TwoWaySide<Other, Right>, _ other: Other, _ applied: (() -> Void)?,
    _ initially: KeyValueBinding.TwoWayInitially, _ exclusive: Bool, _ actor: (any Actor)?, _ site: SourceLocation,
    _ forward: @escaping (Left) -> Right, _ backward: @escaping (Right) -> Left
  ) -> NSKeyValueObservation {
    if exclusive { BindingTable.replace(mine.origin, by: [others.origin], site) }
    let agreement = Agreement<Left, Right>()
    let leftward = TwoWayDirection(others, mine, self, backward, applied) {
      agreement.note($1, $0, isSent: $2)
    } agreed: {
      agreement.load().map { ($0.right, $0.left, $0.serial) }
    }
    let rightward = TwoWayDirection(mine, others, other, forward, applied) {
      agreement.note($0, $1, isSent: $2)
    } agreed: {
      agreement.load().map { ($0.left, $0.right, $0.serial) }
    }
    (leftward.reverse, rightward.reverse) = (UnretainedObject(rightward), UnretainedObject(leftward))
    let token = NSKeyValueObservation.both(leftward.end, rightward.end)
    BindingTable.add(token, mine.origin, from: [others.origin])
    BindingTable.add(token, others.origin, from: [mine.origin])
    let (left, right) = (source(mine.keyPath), other.source(others.keyPath))
    // The direction that is registered last is settled last: so the left side wins.
    left.receive(
      .new, for: other, on: actor, site, bindingNote(others.origin), rightward, sets: boundKey(others.origin, of: other)
    ) {
      rightward.changed($0)
    } handler: { _ in
      rightward.changed()
    }
    right.receive(
      .new, for: self, on: actor, site, bindingNote(mine.origin), leftward, sets: boundKey(mine.origin, of: self)
    ) {
      leftward.changed($0)
    } handler: { _ in
      leftward.changed()
    }
    // What the first set makes of its side is corrected, so both directions are there before.
    guard token.isActive else { return token }
    switch initially {
    case .set: if let value = unrecorded({ right.value }) { leftward.changed(to: value) }
    case .fromLeft: if let value = unrecorded({ left.value }) { rightward.changed(to: value) }
    case .wait: break
    }
    return token
  }
}

extension NSKeyValueObservation {
  /// Makes the token of a two-way binding, before its two directions are registered.
  @usableFromInline
  static func both(_ first: ObservationEnd, _ second: ObservationEnd) -> NSKeyValueObservation {
    // A death ends both; anything else may end one, such as `stopObserving`.
    for (one, other) in [(first, second), (second, first)] { one.onEnd { if $0 == .invalidated { other.end() } } }
    return ExtendedObservation(first, with: second, endsOnRelease: false)
  }
}
