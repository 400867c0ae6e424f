// A typed key path through positions of arrays, such as `\.items[1].name`, which would trap when the element is gone.

import CKVO

private enum PathStep {
  case property(KeyValueProperty)
  case position(Int)
}

/// A path through stored properties and positions of arrays; it has no value where a position is outside.
final class IndexedPath<Value> {
  private let steps: [PathStep]

  /// Finds the path that a key path is by what it reads; `nil` if it is none, or has anything else among its components.
  init?(
    _ keyPath: AnyKeyPath, of root: any KeyValueObservable, reads: UnsafeBufferPointer<kvo_read>,
    _ properties: [KeyValueProperty]
  ) {
    // Each property is computed for a key path, and each position.
    guard KeyPathComponent.count(in: keyPath) > reads.count else { return nil }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    var search = Search(keyPath, reads, properties)
    guard search.goOn(from: root, type(of: keyPath).rootType, made: nil, next: 0) else { return nil }
    steps = search.steps
  }

  /// The present value; `nil` outside where a position is outside its array.
  func read(_ root: any KeyValueObservable) -> Value? {
    var value: Any? = root
    for step in steps {
      // An object on the way is `nil`, and with it the value.
      guard let present = value else { break }
      switch step {
      case .property(let property): value = unwrapped(property.read(present as AnyObject))
      case .position(let position):
        guard let list = list(present), position < list.itemCount ?? 0 else { return nil }
        value = unwrapped(list.item(at: position))
      }
    }
    return value as? Value
  }
}

/// Puts paths together until one is equal to the key path that is looked for.
private struct Search {
  private let wanted: AnyKeyPath
  private let hash: Int
  private let reads: UnsafeBufferPointer<kvo_read>
  private let properties: [KeyValueProperty]
  private(set) var steps: [PathStep] = []
  /// Elements that are no objects are tried one by one.
  private var triesLeft = 1 << 16

  init(_ wanted: AnyKeyPath, _ reads: UnsafeBufferPointer<kvo_read>, _ properties: [KeyValueProperty]) {
    self.wanted = wanted
    hash = wanted.hashValue
    self.reads = reads
    self.properties = properties
  }

  /// - Parameters:
  ///   - value: What the path made so far leads to.
  ///   - type: Its declared type.
  ///   - next: How many reads the path accounts for.
  mutating func goOn(from value: Any, _ type: Any.Type, made: AnyKeyPath?, next: Int) -> Bool {
    if next == reads.count, let made, isWanted(made) { return true }
    guard let value = unwrapped(value) else { return false }
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

/// A list whose elements a key path can name by their positions.
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
