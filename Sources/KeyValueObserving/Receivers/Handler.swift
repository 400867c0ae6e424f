// Handlers with an isolation that is known only at run time, as functions that the library calls where they are isolated.
//
// The compiler has such a function called with `await` only. The library sees to it itself that it is called on the actor, and converts
// it to a function without isolation. Both have the same representation: an isolation is part of the closure's context. The two structures
// of a conversion, and the methods that use it, have the same type parameters with the same constraints: these decide how the arguments
// are passed, and a difference would cost a call that converts them, or be wrong.

/// A handler of a receiver, an object and a change.
@usableFromInline
@frozen
struct ChangeHandler<Receiver: AnyObject, Object: AnyObject, Value> {
  @usableFromInline let call: @isolated(any) (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void) {
    self.call = call
  }

  @inlinable var unchecked: (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void {
    unsafeBitCast(self, to: Unchecked.self).call
  }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void
  }
}

/// A handler of a receiver, an old value and a new one.
@usableFromInline
@frozen
struct ValuesHandler<Receiver: AnyObject, Value> {
  @usableFromInline let call: @isolated(any) (Receiver, Value, Value) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Receiver, Value, Value) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, Value, Value) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, Value, Value) -> Void
  }
}

/// A handler of an old value and a new one.
@usableFromInline
@frozen
struct TokenValuesHandler<Value> {
  @usableFromInline let call: @isolated(any) (Value, Value) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Value, Value) -> Void) { self.call = call }

  @inlinable var unchecked: (Value, Value) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Value, Value) -> Void
  }
}

/// A handler of a change that is isolated to its receiver.
@usableFromInline
@frozen
struct ActorChangeHandler<Receiver: Actor, Object: AnyObject, Value> {
  @usableFromInline let call: (isolated Receiver, Object, NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, Object, NSKeyValueObservedChange<Value>) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void {
    unsafeBitCast(self, to: Unchecked.self).call
  }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, Object, NSKeyValueObservedChange<Value>) -> Void
  }
}

/// A handler of an old and a new value that is isolated to its receiver.
@usableFromInline
@frozen
struct ActorValuesHandler<Receiver: Actor, Value> {
  @usableFromInline let call: (isolated Receiver, Value, Value) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, Value, Value) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, Value, Value) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, Value, Value) -> Void
  }
}
