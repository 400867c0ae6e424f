// GSettings as the stored values of a model.

import CGLib
import CKVOGLib
public import KeyValueObserving

/// Settings of the user, as GSettings stores them, bound to the properties of a model.
///
/// ```swift
/// guard let settings = Settings("org.example.App") else { fatalError("the schema is not installed") }
/// settings.bind("interval", to: preferences, \.interval)
/// preferences.interval = 2  // is stored, and is so again at the next start
/// ```
/// Keep the settings as long as the model: they end with this object.
public final class Settings {
  /// The GSettings. It is kept as long as this object.
  public let pointer: UnsafeMutablePointer<GSettings>
  private let schema: OpaquePointer
  /// What is bound; GSettings does not keep the wrappers.
  private var bound: [(wrapper: UnsafeMutablePointer<GObject>, property: String)] = []

  /// Opens the settings of a schema.
  ///
  /// - Parameters:
  ///   - schema: The name of an installed schema, which `glib-compile-schemas` has compiled; `GSETTINGS_SCHEMA_DIR` is searched, too.
  ///   - path: The path of a schema that has none of its own.
  /// - Returns: `nil` if there is no such schema. (`g_settings_new` would end the process.)
  public convenience init?(_ schema: String, path: String? = nil) {
    guard let source = g_settings_schema_source_get_default() else { return nil }
    self.init(schema, in: source, backend: nil, path: path)
  }

  /// Opens the settings of a schema of a source of one's own, such as a folder beside the program, or with a backend of one's own.
  ///
  /// - Parameters:
  ///   - schema: The name of a schema.
  ///   - source: The `GSettingsSchemaSource` that is searched.
  ///   - backend: The `GSettingsBackend`, or `nil` for the user's.
  ///   - path: The path of a schema that has none of its own.
  /// - Returns: `nil` if there is no such schema.
  public init?(_ schema: String, in source: OpaquePointer, backend: UnsafeMutableRawPointer? = nil, path: String? = nil)
  {
    guard let found = g_settings_schema_source_lookup(source, schema, gboolean(1)) else { return nil }
    self.schema = found
    pointer = g_settings_new_full(found, backend?.assumingMemoryBound(to: GSettingsBackend.self), path)
  }

  deinit {
    for each in bound { unbind(each) }
    g_object_unref(pointer)
    g_settings_schema_unref(schema)
  }

  /// Sets a property to the value of a key, now and after each change of it, and stores the value of the property after each change.
  ///
  /// A value that the type or the range of the key does not have is not stored, with a critical warning. The binding ends with the
  /// object, which it does not keep, with these settings, and when the property is bound to others. It belongs to the main context that is
  /// the thread default.
  ///
  /// - Parameters:
  ///   - key: A key of the schema. One that does not exist is a programming error, and ends the process.
  ///   - object: The model.
  ///   - keyPath: A property of the model: a number, a `Bool` or a `String`.
  public func bind<Object: KeyValueObservable, Value>(
    _ key: String, to object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>
  ) {
    precondition(g_settings_schema_has_key(schema, key) != 0, "the schema has no key \"\(key)\"")
    bound.removeAll { each in
      let wrapper = UnsafeMutableRawPointer(each.wrapper).assumingMemoryBound(to: KvoGlibObject.self)
      let isDead = kvo_glib_object_get_kvo_object(wrapper) == nil
      if isDead { unbind(each) }
      return isDead
    }
    let wrapper = GLib.wrapper(of: object).assumingMemoryBound(to: GObject.self)
    let property = GLib.key(keyPath, of: object).replacing("_", with: "-")
    // First: otherwise the settings that the property was bound to would store the value that these ones set.
    g_settings_unbind(wrapper, property)
    bound.append((wrapper, property))
    g_object_set_data(wrapper, Self.mark(property), pointer)
    let flags = GSettingsBindFlags(G_SETTINGS_BIND_DEFAULT.rawValue | G_SETTINGS_BIND_NO_SENSITIVITY.rawValue)
    g_settings_bind(pointer, key, wrapper, property, flags)
  }

  /// GSettings knows one binding of each property, which may be that of other settings by now.
  private func unbind(_ each: (wrapper: UnsafeMutablePointer<GObject>, property: String)) {
    if g_object_get_data(each.wrapper, Self.mark(each.property)) == UnsafeMutableRawPointer(pointer) {
      g_settings_unbind(each.wrapper, each.property)
      g_object_set_data(each.wrapper, Self.mark(each.property), nil)
    }
    g_object_unref(each.wrapper)
  }

  private static func mark(_ property: String) -> String { "swift-kvo-settings-" + property }
}
