// Handlers with an isolation that is known only at run time, as functions that the library calls where they are isolated.

/// A handler with the isolation of the code that formed it.
@usableFromInline
@frozen
struct IsolatedHandler<First, Second, Third> {
  @usableFromInline let call: @isolated(any) (First, Second, Third) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (First, Second, Third) -> Void) { self.call = call }

  /// The handler as a function without isolation. The compiler has such a function called with `await` only; the library sees to it
  /// itself that it is called on the actor. Both functions have the same representation: the isolation is part of the closure's context.
  @inlinable
  var unchecked: (First, Second, Third) -> Void {
    unsafeBitCast(self, to: UncheckedHandler<First, Second, Third>.self).call
  }
}

/// The same handler, without its isolation.
@usableFromInline
@frozen
struct UncheckedHandler<First, Second, Third> {
  @usableFromInline let call: (First, Second, Third) -> Void
}

/// A handler of a receiver that is an actor. What calls it is on the actor.
@usableFromInline
@frozen
struct ActorHandler<Receiver: Actor, Second, Third> {
  @usableFromInline let call: (isolated Receiver, Second, Third) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, Second, Third) -> Void) { self.call = call }

  @inlinable
  var unchecked: (Receiver, Second, Third) -> Void {
    unsafeBitCast(self, to: UncheckedHandler<Receiver, Second, Third>.self).call
  }
}

/// `IsolatedHandler` for two arguments.
@usableFromInline
@frozen
struct IsolatedPair<First, Second> {
  @usableFromInline let call: @isolated(any) (First, Second) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (First, Second) -> Void) { self.call = call }

  @inlinable
  var unchecked: (First, Second) -> Void { unsafeBitCast(self, to: UncheckedPair<First, Second>.self).call }
}

/// `UncheckedHandler` for two arguments.
@usableFromInline
@frozen
struct UncheckedPair<First, Second> {
  @usableFromInline let call: (First, Second) -> Void
}

/// `ActorHandler` for four arguments.
@usableFromInline
@frozen
struct ActorHandler4<Receiver: Actor, A, B, C> {
  @usableFromInline let call: (isolated Receiver, A, B, C) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, A, B, C) -> Void) { self.call = call }

  @inlinable
  var unchecked: (Receiver, A, B, C) -> Void {
    unsafeBitCast(self, to: UncheckedHandler4<Receiver, A, B, C>.self).call
  }
}

/// `UncheckedHandler` for four arguments.
@usableFromInline
@frozen
struct UncheckedHandler4<Receiver, A, B, C> {
  @usableFromInline let call: (Receiver, A, B, C) -> Void
}

/// `IsolatedHandler` for four arguments.
@usableFromInline
@frozen
struct IsolatedHandler4<Receiver, A, B, C> {
  @usableFromInline let call: @isolated(any) (Receiver, A, B, C) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Receiver, A, B, C) -> Void) { self.call = call }

  @inlinable
  var unchecked: (Receiver, A, B, C) -> Void {
    unsafeBitCast(self, to: UncheckedHandler4<Receiver, A, B, C>.self).call
  }
}
