// Handlers with an isolation that is known only at run time, as functions that the library calls where they are isolated.
//
// The compiler has such a function called with `await` only. The library sees to it itself that it is called on the actor, and converts
// it to a function without isolation. Both have the same representation: an isolation is part of the closure's context. The two structures
// of a conversion have the same type parameters with the same constraints, because these decide how the arguments are passed.

/// A handler of two arguments with the isolation of the code that formed it.
@usableFromInline
@frozen
struct IsolatedPair<First, Second> {
  @usableFromInline let call: @isolated(any) (First, Second) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (First, Second) -> Void) { self.call = call }

  @inlinable var unchecked: (First, Second) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (First, Second) -> Void
  }
}

/// A handler of three arguments with the isolation of the code that formed it.
@usableFromInline
@frozen
struct IsolatedHandler<First, Second, Third> {
  @usableFromInline let call: @isolated(any) (First, Second, Third) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (First, Second, Third) -> Void) { self.call = call }

  @inlinable var unchecked: (First, Second, Third) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (First, Second, Third) -> Void
  }
}

/// A handler of four arguments with the isolation of the code that formed it.
@usableFromInline
@frozen
struct IsolatedHandler4<Receiver, A, B, C> {
  @usableFromInline let call: @isolated(any) (Receiver, A, B, C) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Receiver, A, B, C) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, A, B, C) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, A, B, C) -> Void
  }
}

/// A handler of three arguments that is isolated to the first, its receiver.
@usableFromInline
@frozen
struct ActorHandler<Receiver: Actor, Second, Third> {
  @usableFromInline let call: (isolated Receiver, Second, Third) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, Second, Third) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, Second, Third) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, Second, Third) -> Void
  }
}

/// A handler of four arguments that is isolated to the first, its receiver.
@usableFromInline
@frozen
struct ActorHandler4<Receiver: Actor, A, B, C> {
  @usableFromInline let call: (isolated Receiver, A, B, C) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, A, B, C) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, A, B, C) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, A, B, C) -> Void
  }
}
