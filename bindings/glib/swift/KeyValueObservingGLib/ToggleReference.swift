// The lifetime of a GObject in Swift: either side keeps the other one as long as somebody has it.

import CGLib
import CKVOGLib
import KeyValueObserving
import Synchronization

/// The toggle reference of a GObject. GLib calls it when it becomes the only reference, and when there is another one again.
///
/// Without it, a binding of a widget would end with the Swift variable; or, if the widget kept its Swift object, neither would ever be
/// freed.
final class ToggleReference: @unchecked Sendable {
  private static let quark = g_quark_from_string("swift-kvo-toggle-reference")

  private let pointer: UnsafeMutablePointer<GObject>
  private let context = g_main_context_ref_thread_default()
  /// Kept, so that no other thread gets its address.
  private let home = g_thread_ref(g_thread_self())

  /// Of the variables below: GLib may call on any thread.
  private let lock = Mutex(())
  private weak var object: KeyValueRuntimeObject?
  /// The object, as long as there are other references to the GObject.
  private var kept: KeyValueRuntimeObject?
  private var hasEnded = false

  private init(_ pointer: UnsafeMutablePointer<GObject>) { self.pointer = pointer }

  deinit {
    g_main_context_unref(context)
    g_thread_unref(home)
  }

  static func object(of pointer: UnsafeMutablePointer<GObject>) -> KeyValueRuntimeObject {
    let known = g_object_get_qdata(pointer, quark).map {
      Unmanaged<ToggleReference>.fromOpaque($0).takeUnretainedValue()
    }
    if let known, let object = known.lock.withLock({ _ in known.object }) { return object }
    guard let observed = kvo_glib_observe(pointer), kvo_glib_get_gobject(observed) == pointer else {
      preconditionFailure("\(pointer) is no GObject, or a wrapper, whose object GLib.model(of:) returns")
    }
    let toggle = known ?? ToggleReference(pointer)
    let object = KeyValueRuntimeObject(borrowing: observed, keeping: Owner(toggle))
    // Until this reference is dropped, which may be the only other one.
    g_object_ref(pointer)
    toggle.lock.withLock { _ in (toggle.object, toggle.kept) = (object, object) }
    if known == nil {
      let address = Unmanaged.passRetained(toggle).toOpaque()
      g_object_set_qdata(pointer, quark, address)
      g_object_add_toggle_ref(pointer, toggled, address)
    }
    g_object_unref(pointer)
    return object
  }

  private static let toggled: GToggleNotify = { data, _, isLast in
    Unmanaged<ToggleReference>.fromOpaque(data!).takeUnretainedValue().note(isLast: isLast != 0)
  }

  private func note(isLast: Bool) {
    // Released without the lock: what it keeps may end.
    var released: KeyValueRuntimeObject?
    lock.withLock { _ in
      released = kept
      kept = isLast ? nil : object
    }
    withExtendedLifetime(released) {}
  }

  /// The Swift object has been deallocated, on any thread: the reference is dropped on the GObject's.
  fileprivate func release() {
    if g_thread_self() == home { return end() }
    let source = g_idle_source_new()
    g_source_set_callback(
      source,
      {
        Unmanaged<ToggleReference>.fromOpaque($0!).takeUnretainedValue().end()
        return gboolean(0)
      }, Unmanaged.passRetained(self).toOpaque(), { Unmanaged<ToggleReference>.fromOpaque($0!).release() })
    g_source_attach(source, context)
    g_source_unref(source)
  }

  private func end() {
    // Meanwhile there may be another one, or it has ended.
    var present: KeyValueRuntimeObject?
    let ends = lock.withLock { _ in
      present = object
      defer { hasEnded = hasEnded || present == nil }
      return present == nil && !hasEnded
    }
    withExtendedLifetime(present) {}
    guard ends else { return }
    g_object_set_qdata(pointer, Self.quark, nil)
    let address = Unmanaged.passUnretained(self).toOpaque()
    g_object_remove_toggle_ref(pointer, Self.toggled, address)
    Unmanaged<ToggleReference>.fromOpaque(address).release()
  }

  /// What the Swift object keeps.
  private final class Owner {
    private let toggle: ToggleReference
    init(_ toggle: ToggleReference) { self.toggle = toggle }
    deinit { toggle.release() }
  }
}
