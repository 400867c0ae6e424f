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
  private var bound: [(wrapper: UnsafeMutableRawPointer, property: String)] = []

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
    for (wrapper, property) in bound {
      g_settings_unbind(wrapper, property)
      g_object_unref(wrapper)
    }
    g_object_unref(pointer)
    g_settings_schema_unref(schema)
  }

  /// Sets a property to the value of a key, now and after each change of it, and stores the value of the property after each change.
  ///
  /// A value that the type or the range of the key does not have is not stored, with a critical warning. The binding ends with the
  /// object, which it does not keep, and with these settings. It belongs to the main context that is the thread default.
  ///
  /// - Parameters:
  ///   - key: A key of the schema. One that does not exist is a programming error, and ends the process.
  ///   - object: The model.
  ///   - keyPath: A property of the model: a number, a `Bool` or a `String`.
  public func bind<Object: KeyValueObservable, Value>(
    _ key: String, to object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>
  ) {
    precondition(g_settings_schema_has_key(schema, key) != 0, "the schema has no key \"\(key)\"")
    let (wrapper, property) = (GLib.wrapper(of: object), GLib.key(keyPath, of: object))
    bound.append((wrapper, property))
    let flags = GSettingsBindFlags(G_SETTINGS_BIND_DEFAULT.rawValue | G_SETTINGS_BIND_NO_SENSITIVITY.rawValue)
    g_settings_bind(pointer, key, wrapper, property, flags)
  }
}
