// The source of several properties of an object: an expression that reads them.

import CKVO

extension KeyValueObservable {
  /// Returns the source of several properties or key paths of this object, which the source does not retain.
  ///
  /// ```swift
  /// document.source(\.title, \.pages).onChange(for: self) { me, _, new in
  ///   let (title, pages) = new
  ///   me.label.text = "\(title) (\(pages))"
  /// }
  /// ```
  /// Its value is the tuple of theirs. It notifies when one of them has changed, also of an `observe`: of equal values it does not. Of what
  /// is changed together, in `withCoalescedChanges` or by bindings, it notifies once. While one of the key paths has no value, because it
  /// goes through `!` after a `nil`, neither has the source. `.prior` and `.distinct` are fault KVO0008.
  ///
  /// - Parameters:
  ///   - first: What to observe, as in ``observe(_:options:fileID:line:changeHandler:)``.
  ///   - second: The same.
  ///   - others: Any number of others.
  public nonisolated func source<A, B, each Value>(
    _ first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ others: repeat KeyPath<Self, each Value>
  ) -> KeyValueSource<(A, B, repeat each Value)> {
    sourceOfSeveral(first, second, repeat each others)
  }

  private nonisolated func sourceOfSeveral<each Value>(
    _ keyPaths: repeat KeyPath<Self, each Value>
  ) -> KeyValueSource<(repeat each Value)> {
    let reference = UnretainedObject(self)
    let components = (repeat TupleComponent(each keyPaths, of: self))
    func read() -> (repeat each Value)? {
      guard let object = reference.load() else { return nil }
      func value<Each>(_ component: TupleComponent<Self, Each>) throws(NoValue) -> Each {
        guard let value = component.read(object) else { throw NoValue() }
        return value
      }
      do { return (repeat try value(each components)) } catch { return nil }
    }
    func name(_ object: Self) -> String {
      var names: [String] = []
      for component in repeat each components { names.append(component.name(in: object)) }
      return names.joined(separator: ", ")
    }
    let origins = { reference.load().map { [SourceOrigin($0, name($0))] } ?? [] }
    // No value is a value here, which equals itself.
    typealias Known = (repeat each Value)?
    let all = KeyValueSource<Known>(
      of: origins, read: read,
      subscribe: { request, sink in
        guard let object = reference.load() else { return [] }
        var (request, areStored) = (request, true)
        for component in repeat each components {
          component.prepare(in: object)
          areStored = areStored && component.isStored
        }
        // Stored properties are read where one of them is changed, so that code of an actor gets all their values.
        if areStored { request.description.evaluator = nil }
        let box = ExpressionSourceBox(ExpressionFunctions(read), sink)
        return box.register(with: object, name(object), request)
      }
    ).withoutDuplicates { first, second in
      guard let first, let second else { return first == nil && second == nil }
      for (one, other) in repeat (each first, each second) {
        if !isEqual(one, other) { return false }
      }
      return true
    }
    return KeyValueSource(
      of: origins, read: read,
      subscribe: { request, sink in
        all.subscribe(request) { change in
          sink(.init(kind: .setting, newValue: change.newValue ?? nil, oldValue: change.oldValue ?? nil))
        }
      })
  }
}

/// One of the key paths.
private struct TupleComponent<Root: KeyValueObservable, Value> {
  private let path: ExpressionPath<Root, Value>
  /// The property, if the key path names a single property of the object.
  private let property: KeyValueProperty?
  let isStored: Bool

  init(_ keyPath: KeyPath<Root, Value>, of object: Root) {
    path = ExpressionPath(keyPath)
    property = object.property(at: keyPath)
    isStored = path.isStored(property, of: object) || object.directProperty(at: keyPath) != nil
  }

  func name(in object: Root) -> String { property?.name ?? path.name(in: object) }

  /// Finds out whether the key path goes through array indexes.
  func prepare(in object: Root) {
    if property == nil, path.chain == nil { path.look(from: object) }
  }

  func read(_ object: Root) -> Value? {
    guard let property else { return path.read(object) }
    // It may be announced manually, or declared to depend on others.
    object.recordDependencies(ofKey: property.name)
    return object.recorded(property) { _ in object[keyPath: path.keyPath] }
  }
}

private struct NoValue: Error {}
