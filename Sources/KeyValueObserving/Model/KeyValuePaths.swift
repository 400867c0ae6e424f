// Key paths by name for generated code. A property of a noncopyable type has none.

/// Provides key paths by name: `paths.title` is `\Document.title`.
///
/// The macro knows only the names of properties. A key path to a property of a noncopyable type, such as `Mutex` or `Atomic`, does
/// not compile; this syntax results in a ``_KeyValueNoPath`` instead.
@dynamicMemberLookup
public struct _KeyValuePaths<Root> {
  /// The key path of a read-only property.
  public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> KeyPath<Root, Value> { path }

  /// The key path of a writable property.
  public subscript<Value>(
    dynamicMember path: ReferenceWritableKeyPath<Root, Value>
  ) -> ReferenceWritableKeyPath<Root, Value> { path }

  /// No key path: the property with this name has none.
  public subscript(dynamicMember name: String) -> _KeyValueNoPath { _KeyValueNoPath() }
}

/// The type of `_KeyValuePaths` members that have no key path.
public struct _KeyValueNoPath {}
