// Observation of several key paths by one handler.

import CKVO

extension KeyValueObservable {
  /// Calls a handler with the present values of several key paths when one of them has changed, on behalf of a receiver.
  ///
  /// ```swift
  /// document.onChange(of: \.title, \.pages, for: self) { me, title, pages in me.label.text = "\(title) (\(pages))" }
  /// ```
  /// The values are read on the thread that makes the change. Otherwise see
  /// ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``. There are overloads for two and three key paths that hand an
  /// actor over as `isolated`; with more write the parameter's type: `(me: isolated Worker, a, b, c, d) in`.
  ///
  /// - Parameters:
  ///   - keyPaths: What to observe.
  ///   - initial: Whether the handler is also called before the method returns.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observations.
  ///   - handler: The closure to call with the receiver and the values.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func onChange<each Value, Receiver: AnyObject>(
    of keyPaths: repeat KeyPath<Self, each Value>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping (Receiver, repeat each Value) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      repeat each keyPaths, initial: initial, for: receiver, on: isolation,
      SourceLocation(file: fileID, line: line), userInfo, handler)
  }

  /// The same, of two key paths, when both the object and the receiver may be used by several threads.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, Receiver: AnyObject & Sendable>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext handler: @escaping @isolated(any) @Sendable (Receiver, A, B) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: handler.isolation,
      SourceLocation(file: fileID, line: line), userInfo, IsolatedHandler(handler).unchecked)
  }

  /// The same, of two key paths, on behalf of an actor, from anywhere.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, A, B) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line),
      userInfo, ActorHandler(handler).unchecked)
  }

  /// The same, of two key paths, on behalf of an actor, in code of that actor.
  @inlinable
  @discardableResult
  public func onChange<A, B, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: isolated Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, A, B) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line),
      userInfo, ActorHandler(handler).unchecked)
  }

  /// The same, of three key paths, on behalf of an actor, in code of that actor.
  @inlinable
  @discardableResult
  public func onChange<A, B, C, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, initial: Bool = false,
    for receiver: isolated Receiver, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping (isolated Receiver, A, B, C) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, third, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line),
      userInfo, ActorHandler3(handler).unchecked)
  }

  /// Observes several key paths on behalf of a receiver. The handler is told which one has changed.
  ///
  /// ```swift
  /// document.observe(\.title, \.pages, options: [.new], for: self) { me, document, keyPath, change in
  ///   if keyPath == \Document.title { me.label.text = change.newValue as? String ?? "" }
  /// }
  /// ```
  /// Otherwise see ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``.
  @discardableResult
  public func observe<A, B, each Value, Receiver: AnyObject>(
    _ first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ others: repeat KeyPath<Self, each Value>,
    options: NSKeyValueObservingOptions = [], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Receiver, Self, PartialKeyPath<Self>, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    typealias Told = (keyPath: PartialKeyPath<Self>, change: NSKeyValueObservedChange<Any>)
    let (reference, object) = (ReceiverReference(receiver), UnretainedObject(self))
    let teller = Teller<Told>(isolation) { told in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, told.keyPath, told.change)
    }
    let site = SourceLocation(file: fileID, line: line)
    let description = ObserverDescription(receiver: receiver, note: note(teller.note, userInfo))
    var observations: [UInt64] = []
    func add<Each>(_ keyPath: KeyPath<Self, Each>) {
      observations.append(
        observe(keyPath, options, site, description) { _, change in teller.tell((keyPath, change.erased)) })
    }
    add(first)
    add(second)
    repeat add(each others)
    teller.follow(observations[0])
    return reference.token(observations[0], others: Array(observations[1...]), of: receiver)
  }

  @usableFromInline
  nonisolated func receiveSeveral<each Value, Receiver: AnyObject>(
    _ keyPaths: repeat KeyPath<Self, each Value>, initial: Bool, for receiver: Receiver, on actor: (any Actor)?,
    _ site: SourceLocation, _ userInfo: (any Sendable)?, _ handler: @escaping (Receiver, repeat each Value) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    let teller = Teller<(repeat each Value)>(actor) { values in
      if let receiver = reference.load() { handler(receiver, repeat each values) }
    }
    let paths = (repeat ExpressionPath(each keyPaths))
    /// Reads all values; `nil` while one of the key paths has none.
    func values(_ object: Self) -> (repeat each Value)? {
      func value<Each>(_ path: ExpressionPath<Self, Each>) throws(NoValue) -> Each {
        guard let value = path.read(object) else { throw NoValue() }
        return value
      }
      do { return (repeat try value(each paths)) } catch { return nil }
    }
    let description = ObserverDescription(receiver: receiver, note: note(teller.note, userInfo))
    var observations: [UInt64] = []
    func add<Each>(_ keyPath: KeyPath<Self, Each>) {
      observations.append(
        observe(keyPath, [], site, description) { object, _ in
          if let values = values(object) { teller.tell(values) }
        })
    }
    repeat add(each keyPaths)
    guard let first = observations.first else { return reference.token(0, of: receiver) }
    teller.follow(first)
    let token = reference.token(first, others: Array(observations.dropFirst()), of: receiver)
    if initial, let values = values(self) { teller.tell(values) }
    return token
  }
}

/// A key path has no value at present.
private struct NoValue: Error {}

/// Tells an observer of values, on its actor if it has one.
private final class Teller<Value> {
  private let delivery: ActorDelivery<Value>?
  private let handler: (Value) -> Void
  let note: String?

  init(_ actor: (any Actor)?, _ handler: @escaping (Value) -> Void) {
    self.handler = handler
    delivery = actor.map { actor in
      ActorDelivery(actor) { change in handler(change.newValue!) }
    }
    note = actor.map { "on \(type(of: $0))" }
  }

  func follow(_ observation: UInt64) { delivery?.follow(observation) }

  func tell(_ value: Value) {
    if let delivery {
      delivery.deliver(NSKeyValueObservedChange(kind: .setting, newValue: value))
    } else {
      handler(value)
    }
  }
}

extension NSKeyValueObservedChange {
  /// The change with values of any type.
  var erased: NSKeyValueObservedChange<Any> {
    .init(
      kind: .init(rawValue: kind.rawValue) ?? .setting, newValue: newValue, oldValue: oldValue, indexes: indexes,
      isPrior: isPrior)
  }
}
