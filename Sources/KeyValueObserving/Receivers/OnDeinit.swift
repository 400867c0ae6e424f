// A closure that runs when an observable object is deallocated.

import CKVO

extension KeyValueObservable {
  /// Calls a closure once when the object is deallocated: after its `deinit`, when its observations have ended.
  ///
  /// ```swift
  /// document.onDeinit { print("closed") }
  /// ```
  /// The closure is called on the thread that releases the object, with no lock held; of several, in any order. It must not use the
  /// object. The object is not made an observed one: its setters stay as fast as they were. Any thread. An addition of this library,
  /// known as a deallocation task.
  ///
  /// - Returns: A registration that can take the closure back. Its release does nothing.
  @discardableResult
  public nonisolated func onDeinit(_ handler: @escaping @Sendable () -> Void) -> KeyValueDeinitHandler {
    KeyValueDeinitHandler(adoptedObject, handler)
  }
}

/// A closure that was given to ``KeyValueObservable/onDeinit(_:)``.
public final class KeyValueDeinitHandler: Sendable {
  private let closure: Closure

  /// Takes the closure back: if it has not begun, it is not called, and is released. Does nothing the second time. Any thread.
  public func invalidate() {
    // Whoever takes the closure first has it, the death or this.
    _ = closure.take()
    closure.stopWatching()
  }

  fileprivate init(_ object: KeyValueObjectReference, _ handler: @escaping @Sendable () -> Void) {
    closure = Closure(handler)
    closure.watch(object)
  }

  private final class Closure: DeathObserver, @unchecked Sendable {
    struct Handler {
      let call: @Sendable () -> Void
    }

    private let handler: Guarded<Handler?>

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = Guarded(Handler(call: handler)) }

    func take() -> Handler? {
      handler.withLock { handler in
        defer { handler = nil }
        return handler
      }
    }

    override func objectDied() { take()?.call() }
  }
}
