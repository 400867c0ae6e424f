// Handlers of a source's changes with an isolation that is known only at run time: see Handler.swift.

/// A handler of a receiver and a change.
@usableFromInline
@frozen
struct SourceHandler<Receiver: AnyObject, Value> {
  @usableFromInline let call: @isolated(any) (Receiver, NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (Receiver, NSKeyValueObservedChange<Value>) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, NSKeyValueObservedChange<Value>) -> Void {
    unsafeBitCast(self, to: Unchecked.self).call
  }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, NSKeyValueObservedChange<Value>) -> Void
  }
}

/// A handler of a change that is isolated to its receiver.
@usableFromInline
@frozen
struct ActorSourceHandler<Receiver: Actor, Value> {
  @usableFromInline let call: (isolated Receiver, NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ call: @escaping (isolated Receiver, NSKeyValueObservedChange<Value>) -> Void) { self.call = call }

  @inlinable var unchecked: (Receiver, NSKeyValueObservedChange<Value>) -> Void {
    unsafeBitCast(self, to: Unchecked.self).call
  }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (Receiver, NSKeyValueObservedChange<Value>) -> Void
  }
}

/// A handler of a change.
@usableFromInline
@frozen
struct SourceTokenHandler<Value> {
  @usableFromInline let call: @isolated(any) (NSKeyValueObservedChange<Value>) -> Void

  @inlinable
  init(_ call: @escaping @isolated(any) (NSKeyValueObservedChange<Value>) -> Void) { self.call = call }

  @inlinable var unchecked: (NSKeyValueObservedChange<Value>) -> Void { unsafeBitCast(self, to: Unchecked.self).call }

  @usableFromInline
  @frozen
  struct Unchecked {
    @usableFromInline let call: (NSKeyValueObservedChange<Value>) -> Void
  }
}
