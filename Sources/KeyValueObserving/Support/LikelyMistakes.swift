// What is often written for something else: the compiler says what to write instead. Tests/Clients/Mistakes has what it says.

extension KeyValueObservable {
  @available(
    *, unavailable,
    message: "onChange has no options. Write observe(_:options:for:), or initial: true for the present value."
  )
  @discardableResult
  public func onChange<Value, Receiver: AnyObject>(
    of keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions, for receiver: Receiver,
    handler: (Receiver, Value, Value) -> Void
  ) -> NSKeyValueObservation { fatalError() }

  @available(*, unavailable, message: "Write source(\\.key, \\.other).onChange(for:).")
  @discardableResult
  public func onChange<First, Second, Receiver: AnyObject>(
    of keyPath: KeyPath<Self, First>, _ other: KeyPath<Self, Second>, for receiver: Receiver,
    handler: (Receiver, First, Second) -> Void
  ) -> NSKeyValueObservation { fatalError() }

  @available(
    *, unavailable, message: "Write other.source(\\.key).bind(to: object, \\.key), or object.bindTwoWay(_:with:_:)."
  )
  @discardableResult
  public func bind<Value, Other>(
    _ keyPath: KeyPath<Self, Value>, to other: Other, _ otherKeyPath: KeyPath<Other, Value>
  ) -> NSKeyValueObservation { fatalError() }

  @available(*, unavailable, message: "Write source.bind(to: object, \\.key).")
  @discardableResult
  public func bind<Value>(
    _ keyPath: KeyPath<Self, Value>, to source: KeyValueSource<Value>
  ) -> NSKeyValueObservation { fatalError() }

  @available(*, unavailable, message: "Write object.bind(\\.key) { … } with the expression in braces.")
  @discardableResult
  public func bind<Value>(_ keyPath: KeyPath<Self, Value>, to value: Value) -> NSKeyValueObservation { fatalError() }
}

@available(*, unavailable, message: "Write withCoalescedChanges(of: objects) { … }.")
public func withCoalescedChanges<Result>(
  _ objects: any KeyValueObservable..., onlyIfChanged: Bool = false, body: () throws -> Result
) rethrows -> Result { fatalError() }
