// A closure that runs when an observable object is deallocated.

import CKVO
import Synchronization

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
  private let watch: kvo_observation
  private let box: Box

  /// Takes the closure back: if it has not begun, it is not called, and is released. Does nothing the second time. Any thread.
  public func invalidate() {
    // The box sees which comes first: the death or this.
    box.takeBack()
    kvo_cancel_observer(watch)
  }

  fileprivate init(_ object: KeyValueObjectReference, _ handler: @escaping @Sendable () -> Void) {
    box = Box(handler)
    let context = Unmanaged.passRetained(box)
    var made: kvo_observation = 0
    if kvo_binding_observe_death(object, Box.operations, context.toOpaque(), &made) != KVO_OK { context.release() }
    watch = made
  }

  private final class Box: Sendable {
    private struct Handler {
      let call: @Sendable () -> Void
    }

    private let handler: Guarded<Handler?>

    static nonisolated(unsafe) let operations: UnsafePointer<kvo_observer_ops> = {
      let operations = UnsafeMutablePointer<kvo_observer_ops>.allocate(capacity: 1)
      operations.initialize(
        to: kvo_observer_ops(
          callback: { _, _ in }, destroy: { Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().call() }, abandon: nil,
          evaluate: nil, release: nil, same: nil, is_here: nil, ask: nil, of_property: nil))
      return UnsafePointer(operations)
    }()

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = Guarded(Handler(call: handler)) }

    private func take() -> Handler? {
      handler.withLock { handler in
        defer { handler = nil }
        return handler
      }
    }

    func takeBack() { _ = take() }
    private func call() { take()?.call() }
  }
}
