// Calls of a handler with the values of several key paths: any number of them, and two or three with every kind of isolation, because
// the compiler infers the isolation of a closure's parameters, and what a closure inherits, only without a parameter pack.

extension KeyValueObservable {
  /// Calls a handler with the present values of several key paths when one of them has changed, on behalf of a receiver.
  ///
  /// ```swift
  /// document.onChange(of: \.title, \.pages, for: self) { me, title, pages in me.label.text = "\(title) (\(pages))" }
  /// ```
  /// The values are read on the thread that makes the change; in code of an actor on the actor, unless all are stored properties. Otherwise see
  /// ``onChange(of:initial:for:userInfo:isolation:fileID:line:handler:)``. Any number of key paths can be given. The handler of an actor is
  /// isolated to it with up to three.
  ///
  /// - Parameters:
  ///   - first: What to observe.
  ///   - second: What to observe.
  ///   - third: What to observe.
  ///   - fourth: What to observe.
  ///   - others: What to observe.
  ///   - initial: Whether the handler is also called before the method returns.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observations.
  ///   - handler: The closure to call with the receiver and the values.
  /// - Returns: The token, whose release ends nothing.
  @inlinable
  @discardableResult
  public func onChange<A, B, C, D, each Value, Receiver: AnyObject>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, _ fourth: KeyPath<Self, D>,
    _ others: repeat KeyPath<Self, each Value>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, handler: @escaping (Receiver, A, B, C, D, repeat each Value) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, third, fourth, repeat each others, initial: initial, for: receiver, on: isolation,
      SourceLocation(file: fileID, line: line), userInfo, handler)
  }

  /// Calls a handler with the present values of two key paths when one of them has changed, on behalf of a receiver.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public func onChange<A, B, Receiver: AnyObject>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, A, B) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: handler.isolation ?? isolation,
      SourceLocation(file: fileID, line: line), userInfo,
      SeveralHandler(handler).unchecked)
  }

  /// The same, of two key paths, when both the object and the receiver may be used by several threads.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, Receiver: AnyObject & Sendable>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext handler: @escaping @isolated(any) @Sendable (Receiver, A, B) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: handler.isolation, SourceLocation(file: fileID, line: line),
      userInfo, SeveralHandler(handler).unchecked)
  }

  /// The same, of two key paths, on behalf of an actor, from anywhere.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, A, B) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorSeveralHandler(handler).unchecked)
  }

  /// The same, of two key paths, on behalf of an actor, in code of that actor.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public func onChange<A, B, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, initial: Bool = false, for receiver: isolated Receiver,
    userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (isolated Receiver, A, B) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line), userInfo,
      ActorSeveralHandler(handler).unchecked)
  }

  /// Calls a handler with the present values of three key paths when one of them has changed, on behalf of a receiver.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public func onChange<A, B, C, Receiver: AnyObject>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, initial: Bool = false,
    for receiver: Receiver, userInfo: (any Sendable)? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @isolated(any) (Receiver, A, B, C) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, third, initial: initial, for: receiver, on: handler.isolation ?? isolation,
      SourceLocation(file: fileID, line: line),
      userInfo, SeveralHandler3(handler).unchecked)
  }

  /// The same, of three key paths, when both the object and the receiver may be used by several threads.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, C: Sendable, Receiver: AnyObject & Sendable>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, initial: Bool = false,
    for receiver: Receiver, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext handler: @escaping @isolated(any) @Sendable (Receiver, A, B, C) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, third, initial: initial, for: receiver, on: handler.isolation,
      SourceLocation(file: fileID, line: line), userInfo, SeveralHandler3(handler).unchecked)
  }

  /// The same, of three key paths, on behalf of an actor, from anywhere.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public nonisolated func onChange<A: Sendable, B: Sendable, C: Sendable, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, initial: Bool = false,
    for receiver: Receiver, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping @Sendable (isolated Receiver, A, B, C) -> Void
  ) -> NSKeyValueObservation where Self: Sendable {
    receiveSeveral(
      first, second, third, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line),
      userInfo, ActorSeveralHandler3(handler).unchecked)
  }

  /// The same, of three key paths, on behalf of an actor, in code of that actor.
  ///
  /// See the method for any number of key paths.
  @inlinable
  @discardableResult
  public func onChange<A, B, C, Receiver: Actor>(
    of first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ third: KeyPath<Self, C>, initial: Bool = false,
    for receiver: isolated Receiver, userInfo: (any Sendable)? = nil, fileID: StaticString = #fileID,
    line: UInt = #line,
    handler: @escaping (isolated Receiver, A, B, C) -> Void
  ) -> NSKeyValueObservation {
    receiveSeveral(
      first, second, third, initial: initial, for: receiver, on: receiver, SourceLocation(file: fileID, line: line),
      userInfo, ActorSeveralHandler3(handler).unchecked)
  }
}
