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
    let known = (object as? any KeyValueObservable)?.property(at: keyPath)
    self = known?.accessors() ?? BoundProperty(get: { $0[keyPath: keyPath] }, set: { $0[keyPath: keyPath] = $1 })
  }

  init(get: @escaping (Root) -> Value, set: @escaping (Root, Value) -> Void) {
    (self.get, self.set) = (get, set)
  }

  /// Returns the same for a subclass. Functions of classes take references, whatever the class, so that no closure is needed between them.
  func unchecked<Subclass: AnyObject>(of type: Subclass.Type) -> BoundProperty<Subclass, Value> {
    unsafeBitCast(self, to: BoundProperty<Subclass, Value>.self)
  }
}
