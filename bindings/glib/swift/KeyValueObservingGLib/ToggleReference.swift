// The lifetime of a GObject in Swift: either side keeps the other one as long as somebody has it.

import CGLib
import CKVOGLib
import KeyValueObserving

/// The toggle reference of a GObject. GLib calls it when it becomes the only reference, and when there is another one again.
///
/// Without it, a binding of a widget would end with the Swift variable; or, if the widget kept its Swift object, neither would ever be
/// freed.
final class ToggleReference {
  private static let quark = g_quark_from_string("swift-kvo-toggle-reference")

  private let pointer: UnsafeMutablePointer<GObject>
  private let context = g_main_context_ref_thread_default()
  private weak var object: KeyValueRuntimeObject?
  /// The object, as long as there are other references to the GObject.
  private var kept: KeyValueRuntimeObject?

  private init(_ pointer: UnsafeMutablePointer<GObject>) { self.pointer = pointer }

  deinit { g_main_context_unref(context) }

  static func object(of pointer: UnsafeMutablePointer<GObject>) -> KeyValueRuntimeObject {
    let known = g_object_get_qdata(pointer, quark).map {
      Unmanaged<ToggleReference>.fromOpaque($0).takeUnretainedValue()
    }
    if let object = known?.object { return object }
    guard let observed = kvo_glib_observe(pointer) else { preconditionFailure("\(pointer) is no GObject") }
    let toggle = known ?? ToggleReference(pointer)
    let object = KeyValueRuntimeObject(borrowing: observed, keeping: Owner(toggle))
    toggle.object = object
    // Until this reference is dropped, which may be the only other one.
    g_object_ref_sink(pointer)
    toggle.kept = object
    if known == nil {
      let address = Unmanaged.passRetained(toggle).toOpaque()
      g_object_set_qdata(pointer, quark, address)
      g_object_add_toggle_ref(pointer, toggled, address)
    }
    g_object_unref(pointer)
    return object
  }

  private static let toggled: GToggleNotify = { data, _, isLast in
    let toggle = Unmanaged<ToggleReference>.fromOpaque(data!).takeUnretainedValue()
    toggle.kept = isLast != 0 ? nil : toggle.object
  }

  /// The Swift object has been deallocated, on any thread.
  private func release() {
    let address = Unmanaged.passUnretained(self).toOpaque()
    g_main_context_invoke(
      context,
      {
        ToggleReference.end($0!)
        return gboolean(0)
      }, address)
  }

  private static func end(_ address: UnsafeMutableRawPointer) {
    let toggle = Unmanaged<ToggleReference>.fromOpaque(address).takeUnretainedValue()
    // Meanwhile there may be another one.
    guard toggle.object == nil else { return }
    g_object_set_qdata(toggle.pointer, quark, nil)
    g_object_remove_toggle_ref(toggle.pointer, toggled, address)
    Unmanaged<ToggleReference>.fromOpaque(address).release()
  }

  /// What the Swift object keeps.
  private final class Owner {
    private let toggle: ToggleReference
    init(_ toggle: ToggleReference) { self.toggle = toggle }
    deinit { toggle.release() }
  }
}
