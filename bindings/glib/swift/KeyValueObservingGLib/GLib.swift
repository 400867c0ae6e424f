// KVO objects as GObjects, and GObjects as KVO objects.

import CGLib
import CKVOGLib
public import KeyValueObserving

/// KVO objects and GObjects, each seen as the other.
///
/// ```swift
/// let label = GLib.object(gtk_label_new(nil))
/// document.source(\.title).bind(to: label, \.label)
/// ```
/// Pointers are as C has them: what a function returns is said there, and no function takes a reference of the caller's unless it says so.
public enum GLib {
  /// Returns a GObject as a KVO object. Its keys are the GObject's properties.
  ///
  /// ```swift
  /// let entry = GLib.object(gtk_entry_new())
  /// entry.bindTwoWay(\.text, with: document, \.title)
  /// let token = entry.onChange(of: \.text) { (_: String, new: String) in print(new) }  // ends with the token
  /// ```
  /// The types of properties are those of C: a `gint` or an enumeration is an `Int32`, a `gdouble` a `Double`, a string a `String`, or a
  /// `String?` if it may be `NULL`. A "-" in the name of a property is "_" in a key path: `\.width_request`. "value", which Swift takes
  /// for a method, is `\.value_`.
  ///
  /// There is one object for each GObject. It keeps the GObject, and is kept as long as somebody else keeps the GObject, so observations
  /// and bindings last as long as a widget is in its window. They end when the GObject is disposed of.
  ///
  /// Observers of a GObject get no old value, because GLib does not say that a change is going to be made: `onChange` passes the new one as
  /// both, and does not leave out equal ones. `bindTwoWay` also reads the property: for one that may be `NULL`, such as the title of a
  /// window, write `window.bindTwoWay(\.title, with: document, \.title, forward: { $0 ?? "" }, backward: { Optional($0) })`.
  ///
  /// Call this, and use the object, on the GObject's thread, for widgets the main thread; the last reference may be dropped on any thread.
  /// Bind and observe in code of the main actor, and call ``runMainQueue()``: changes that other threads make to the model are then
  /// delivered there. What nonisolated code binds is set on the thread that changes the model.
  ///
  /// The value of a property that is an object, such as `\.buffer`, is another `KeyValueRuntimeObject`, which keeps nothing: pass its
  /// ``pointer(of:)`` to this function. A closure that is passed to `bind` or ``connect(_:_:handler:)`` of an object, and captures that
  /// object, keeps it for ever: capture it as `unowned`, or as `weak` for a signal that is emitted while it is destroyed.
  ///
  /// - Parameter pointer: A GObject that is no wrapper. A reference is taken. The floating reference of a new widget is left to the
  ///   container that the widget is added to.
  public static func object(_ pointer: UnsafeMutableRawPointer) -> KeyValueRuntimeObject {
    ToggleReference.object(of: pointer.assumingMemoryBound(to: GObject.self))
  }

  /// Returns a GObject as a KVO object: ``object(_:)-(UnsafeMutableRawPointer)`` for types that Swift does not know.
  public static func object(_ pointer: OpaquePointer) -> KeyValueRuntimeObject {
    object(UnsafeMutableRawPointer(pointer))
  }

  /// Returns a GObject as a KVO object, and takes the caller's reference: ``object(_:)-(UnsafeMutableRawPointer)`` for a pointer that a
  /// function has returned with "transfer full", such as `g_socket_client_new`.
  public static func object(taking pointer: UnsafeMutableRawPointer) -> KeyValueRuntimeObject {
    defer { g_object_unref(pointer) }
    return object(pointer)
  }

  /// Returns a GObject as a KVO object, and takes the caller's reference: ``object(taking:)-(UnsafeMutableRawPointer)`` for types that
  /// Swift does not know.
  public static func object(taking pointer: OpaquePointer) -> KeyValueRuntimeObject {
    object(taking: UnsafeMutableRawPointer(pointer))
  }

  /// Returns the GObject of an object that ``object(_:)-(UnsafeMutableRawPointer)`` has returned, or that is a property of one.
  ///
  /// - Returns: The GObject, without a reference for the caller. `nil` for an object of another kind.
  public static func pointer(of object: KeyValueRuntimeObject) -> UnsafeMutableRawPointer? {
    kvo_glib_get_gobject(object.pointer).map { UnsafeMutableRawPointer($0) }
  }

  /// Returns the wrapper of an object: a GObject whose properties are the object's, as `kvo_glib_wrap` makes it.
  ///
  /// - Returns: The wrapper. The caller owns a reference: `g_object_unref`.
  public static func wrapper(of object: some KeyValueObservable) -> UnsafeMutableRawPointer {
    guard let wrapper = kvo_glib_wrap(object.keyValueObject) else { preconditionFailure("there is no memory") }
    return UnsafeMutableRawPointer(wrapper)
  }

  /// Returns the object of a wrapper, such as an item of a list model.
  ///
  /// ```swift
  /// let process: HostProcess? = GLib.model(of: gtk_list_item_get_item(cell))
  /// ```
  /// - Parameter wrapper: A wrapper, or `nil`.
  /// - Returns: The object; `nil` if it has been destroyed or is of another class, and for `nil`.
  public static func model<Model: KeyValueObservable>(
    of wrapper: UnsafeMutableRawPointer?, as type: Model.Type = Model.self
  ) -> Model? {
    guard let wrapper else { return nil }
    var found: (any KeyValueObservable)?
    _ = withUnsafeMutablePointer(to: &found) { found in
      // While the object cannot be destroyed it is retained.
      kvo_glib_object_call(
        wrapper.assumingMemoryBound(to: KvoGlibObject.self),
        { object, found in
          found!.assumingMemoryBound(to: (any KeyValueObservable)?.self).pointee = keyValueObservable(at: object!)
        }, found)
    }
    return found as? Model
  }

  /// Makes a `GListModel` of a property that is an array of objects, numbers or strings, as `kvo_glib_list_model` does.
  ///
  /// ```swift
  /// let rows = gtk_single_selection_new(GLib.listModel(of: library, \.documents))
  /// ```
  /// It emits `items-changed` with the indexes of each change. Its items are wrappers; ``model(of:as:)`` returns their objects.
  ///
  /// - Parameters:
  ///   - object: The object that has the array. It is not kept; when it is deallocated, the model becomes empty.
  ///   - keyPath: The property.
  /// - Returns: The model. The caller owns a reference; most constructors of GTK take it.
  public static func listModel<Object: KeyValueObservable, Elements: Collection>(
    of object: Object, _ keyPath: KeyPath<Object, Elements>
  ) -> OpaquePointer {
    let key = key(keyPath, of: object)
    guard let model = kvo_glib_list_model(object.keyValueObject, key) else {
      preconditionFailure("\(Object.self).\(key) is no array that GLib can show")
    }
    return model
  }

  static func key<Object: KeyValueObservable>(_ keyPath: PartialKeyPath<Object>, of object: Object) -> String {
    guard let key = keyValueKey(of: keyPath, in: object) else {
      preconditionFailure("\(keyPath) is no observable property of \(Object.self)")
    }
    return key
  }
}
