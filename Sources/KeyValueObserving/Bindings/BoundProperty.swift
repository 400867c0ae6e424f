// How bindings read and set a property.

/// A property that a binding reads and sets.
///
/// A literal key path is a call of the accessor only where the compiler sees it. Elsewhere Swift's runtime would read the property, store
/// the value in a buffer, and write it back.
@usableFromInline
struct BoundProperty<Root: AnyObject, Value> {
  @usableFromInline let get: (Root) -> Value
  @usableFromInline let set: (Root, Value) -> Void

  @usableFromInline
  init(_ keyPath: ReferenceWritableKeyPath<Root, Value>, in object: Root) {
    if let known = (object as? any KeyValueObservable)?.property(at: keyPath)?.accessors(of: Value.self) {
      get = { known.get($0) }
      set = { known.set($0, $1) }
    } else {
      get = { $0[keyPath: keyPath] }
      set = { $0[keyPath: keyPath] = $1 }
    }
  }
}
