// A typed key path through array indexes, such as `\.items[1].name`. Reading it directly would trap when the element is gone.

import CKVO

private enum PathStep {
  case property(KeyValueProperty)
  case position(Int)
  /// A `!`.
  case force
}

/// A path through stored properties and array indexes. It has no value if an index is out of range, or what a `!` unwraps is `nil`.
final class IndexedPath<Value> {
  private let steps: [PathStep]

  /// Finds the steps of a key path from what it reads; `nil` if it has no array indexes or has other components.
  init?(
    _ keyPath: AnyKeyPath, of root: any KeyValueObservable, reads: UnsafeBufferPointer<kvo_read>,
    _ properties: [KeyValueProperty]
  ) {
    // A key path counts each property, and each index, as a computed component.
    guard KeyPathComponent.countComputed(in: keyPath) > reads.count else { return nil }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    var search = Search(keyPath, reads, properties)
    guard search.goOn(from: root, type(of: keyPath).rootType, made: nil, next: 0) else { return nil }
    steps = search.steps
  }

  /// Returns the present value, or `nil` if there is none.
  func read(_ root: any KeyValueObservable) -> Value? {
    var value: Any? = root
    for step in steps {
      // If an object on the path is `nil`, so is the value, unless a `!` follows.
      guard let present = value else {
        if case .force = step { return nil }
        continue
      }
      switch step {
      case .property(let property): value = unwrapped(property.read(present as AnyObject))
      case .position(let position):
        guard let list = list(present), position < list.itemCount ?? 0 else { return nil }
        value = unwrapped(list.item(at: position))
      case .force: break
      }
    }
    return value as? Value
  }
}

/// Builds candidate paths until one equals the wanted key path.
private struct Search {
  private let wanted: AnyKeyPath
  private let hash: Int
  private let hasForce: Bool
  private let reads: UnsafeBufferPointer<kvo_read>
  private let properties: [KeyValueProperty]
  private(set) var steps: [PathStep] = []
  /// The limit for trying elements that are not objects, which are tried one by one.
  private var triesLeft = 1 << 16

  init(_ wanted: AnyKeyPath, _ reads: UnsafeBufferPointer<kvo_read>, _ properties: [KeyValueProperty]) {
    self.wanted = wanted
    hash = wanted.hashValue
    hasForce = wanted.debugDescription.contains("!")
    self.reads = reads
    self.properties = properties
  }

  /// Extends the path and returns whether the wanted key path was found.
  ///
  /// - Parameters:
  ///   - value: The value at the end of the path built so far.
  ///   - type: The declared type of that value.
  ///   - next: The number of reads that the path accounts for.
  mutating func goOn(from value: Any, _ type: Any.Type, made: AnyKeyPath?, next: Int) -> Bool {
    if next == reads.count, let made, isWanted(made) { return true }
    guard let value = unwrapped(value) else { return false }
    if hasForce, let made, let optional = type as? any OptionalProtocol.Type,
      let longer = made.appending(path: optional.forced)
    {
      steps.append(.force)
      if goOn(from: value, optional.wrappedType, made: longer, next: next) { return true }
      steps.removeLast()
    }
    let wrapped = (type as? any OptionalProtocol.Type)?.wrappedType ?? type
    if let cls = wrapped as? any KeyValueObservable.Type, let object = observable(value) {
      return goOn(from: object, cls, made: made, next: next)
    }
    guard let made, let type = type as? any PositionedList.Type, let list = list(value) else { return false }
    let element = next < reads.count ? reads[next].object : nil
    return (0..<(list.itemCount ?? 0)).contains { position in
      let item: Any = list.item(at: position)
      if let element, unwrapped(item).flatMap(observable).map({ $0.__keyValueObject != element }) ?? false {
        return false
      }
      triesLeft -= 1
      guard triesLeft > 0, let longer = made.appending(path: type.path(to: position)) else { return false }
      return step(.position(position), to: item, longer, next)
    }
  }

  private mutating func goOn(
    from object: any KeyValueObservable, _ cls: any KeyValueObservable.Type, made: AnyKeyPath?, next: Int
  ) -> Bool {
    guard next < reads.count, object.__keyValueObject == reads[next].object,
      let property = KeyValueClass.of(type: cls).property(named: properties[next].name), property.isDirect
    else { return false }
    var longer: AnyKeyPath? = property.path
    if let made {
      longer = made.appending(path: property.path) ?? property.chained.flatMap { made.appending(path: $0) }
    }
    guard let longer else { return false }
    return step(.property(property), to: property.read(object), longer, next + 1)
  }

  private mutating func step(_ step: PathStep, to value: Any, _ made: AnyKeyPath, _ next: Int) -> Bool {
    steps.append(step)
    if goOn(from: value, type(of: made).valueType, made: made, next: next) { return true }
    steps.removeLast()
    return false
  }

  private func isWanted(_ made: AnyKeyPath) -> Bool {
    type(of: made).valueType == type(of: wanted).valueType && made.hashValue == hash
  }
}

/// A collection whose elements a key path can name by index.
private protocol PositionedList {
  static func path(to position: Int) -> AnyKeyPath
  static func chainedPath(to position: Int) -> AnyKeyPath
}

extension Array: PositionedList {
  fileprivate static func path(to position: Int) -> AnyKeyPath { \[Element].[position] }
  fileprivate static func chainedPath(to position: Int) -> AnyKeyPath { \[Element]?.?[position] }
}

extension ContiguousArray: PositionedList {
  fileprivate static func path(to position: Int) -> AnyKeyPath { \ContiguousArray<Element>.[position] }
  fileprivate static func chainedPath(to position: Int) -> AnyKeyPath { \ContiguousArray<Element>?.?[position] }
}

extension Optional: PositionedList where Wrapped: PositionedList {
  fileprivate static func path(to position: Int) -> AnyKeyPath { Wrapped.chainedPath(to: position) }
  fileprivate static func chainedPath(to position: Int) -> AnyKeyPath { path(to: position) }
}
