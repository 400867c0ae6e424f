// Key paths by name, for the code that the macro writes: for a property whose value cannot be copied there is none.

/// Finds key paths: `paths.title` is `\Document.title`.
///
/// The macro sees names only. A key path to a property that cannot be copied, such as a `Mutex` or an `Atomic`, does not compile;
/// written so, it is nothing instead.
@dynamicMemberLookup
public struct KeyValuePaths<Root> {
  /// The key path of a property that can be read.
  public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> KeyPath<Root, Value> { path }

  /// The key path of a property that can be set.
  public subscript<Value>(
    dynamicMember path: ReferenceWritableKeyPath<Root, Value>
  ) -> ReferenceWritableKeyPath<Root, Value> { path }

  /// What stands for a property without a key path.
  public subscript(dynamicMember name: String) -> KeyValueNoPath { KeyValueNoPath() }
}

/// Stands for the key path of a property that has none.
public struct KeyValueNoPath {}
