// Signals of GObjects, as Swift closures.

public import CGLib

extension GLib {
  /// Calls a closure of the main actor whenever a GObject emits a signal.
  ///
  /// ```swift
  /// GLib.connect(button, "clicked") { _ in document.pages += 1 }
  /// ```
  /// - Parameters:
  ///   - object: The GObject. The closure lives as long; let it capture what owns the object as `unowned`, or as `weak`
  ///     for a signal that is emitted while the object is destroyed.
  ///   - signal: The name of the signal, with the detail if there is one: `"notify::text"`. It has to be emitted on the main thread.
  ///   - handler: The closure. It gets the object and the signal's arguments. Where the signal expects a value, such as "close-request",
  ///     the value is `FALSE` or 0: connect a C function to such a one.
  /// - Returns: The handler's id, for `g_signal_handler_disconnect`; 0, with a warning of GLib, if there is no such signal.
  @MainActor
  @discardableResult
  public static func connect(
    _ object: UnsafeMutableRawPointer, _ signal: String,
    handler: @escaping @MainActor (UnsafePointer<GValue>) -> Void
  ) -> UInt {
    let data = Unmanaged.passRetained(SignalHandler(handler)).toOpaque()
    let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), data)!
    g_closure_set_marshal(closure) { closure, _, _, values, _, _ in
      nonisolated(unsafe) let values = values!
      let handler = Unmanaged<SignalHandler>.fromOpaque(closure!.pointee.data).takeUnretainedValue()
      MainActor.assumeIsolated { handler.call(values) }
    }
    g_closure_add_finalize_notifier(closure, data) { data, _ in Unmanaged<SignalHandler>.fromOpaque(data!).release() }
    // Otherwise a closure that is not connected would stay.
    g_closure_ref(closure)
    g_closure_sink(closure)
    defer { g_closure_unref(closure) }
    return UInt(g_signal_connect_closure(object, signal, closure, gboolean(0)))
  }

  /// Calls a closure of the main actor whenever a GObject emits a signal: ``connect(_:_:handler:)-(UnsafeMutableRawPointer,_,_)`` for types
  /// that Swift does not know.
  @MainActor
  @discardableResult
  public static func connect(
    _ object: OpaquePointer, _ signal: String, handler: @escaping @MainActor (UnsafePointer<GValue>) -> Void
  ) -> UInt {
    connect(UnsafeMutableRawPointer(object), signal, handler: handler)
  }
}

private final class SignalHandler: Sendable {
  let call: @MainActor (UnsafePointer<GValue>) -> Void
  init(_ call: @escaping @MainActor (UnsafePointer<GValue>) -> Void) { self.call = call }
}
