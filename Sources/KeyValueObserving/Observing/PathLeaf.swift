// What is known about a key path that ends at a stored property: the properties that it goes through.

import CKVO

/// One property on a key path.
struct LeafStep {
  let property: KeyValueProperty
  /// Returns the header of an object that has the property.
  let header: (AnyObject) -> KeyValueObjectReference

  init(_ property: KeyValueProperty, of type: any KeyValueObservable.Type) {
    func header<Root: KeyValueObservable>(_: Root.Type) -> (AnyObject) -> KeyValueObjectReference {
      { unsafeDowncast($0, to: Root.self).__keyValueObject }
    }
    self.property = property
    self.header = header(type)
  }
}

/// What is known about a path to a stored property.
@usableFromInline
final class PathLeaf<Value> {
  let steps: [LeafStep]
  /// Whether the properties can be read one after the other: all but the last hold objects.
  let isWalkable: Bool
  /// Whether the path's type is that of the last property.
  private let isSame: Bool
  /// Converts the property's value to the path's; they differ by an optional at most.
  @usableFromInline let read: (UnsafeRawPointer) -> Value

  init(_ steps: [LeafStep], _ read: @escaping (UnsafeRawPointer) -> Value) {
    self.steps = steps
    self.read = read
    isWalkable = steps.dropLast().allSatisfy { $0.property.holdsObject }
    isSame = type(of: steps[steps.count - 1].property.path).valueType == Value.self
  }

  /// Converts a copy of the last property's value to a copy of the path's.
  func converted(_ copy: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    if isSame { return copy }
    defer { steps[steps.count - 1].property.release(copy) }
    return .__copy(read(copy), as: Value.self)
  }

  /// Returns whether this evaluation has read exactly the properties of these objects. A getter may have been overridden, and then
  /// reads something else.
  func isRead(from headers: UnsafeMutableBufferPointer<KeyValueObjectReference>) -> Bool {
    withUnsafeTemporaryAllocation(of: kvo_read.self, capacity: headers.count) { reads in
      guard kvo_track_reads(reads.baseAddress!, reads.count) == headers.count else { return false }
      return headers.indices.allSatisfy {
        reads[$0].object == headers[$0] && reads[$0].keyValueProperty?.key == steps[$0].property.key
      }
    }
  }
}

/// Returns the steps of a key path if it is the path through these properties and nothing else; otherwise `nil`.
///
/// The properties are those that an evaluation has read, which belong to the classes of the objects. The steps are the properties of
/// the same names of the classes that the key path names: other objects on the path may be of other subclasses.
///
/// Swift cannot list the components of a key path. Instead, the path through the properties is built and compared with it. It is
/// compared by hash, because `==` distinguishes optional-chained paths by how they were made. The hash has 64 bits and covers all
/// components.
///
/// - Parameters:
///   - keepingLast: Whether the end of an object on the path has to deliver the old value. The runtime does not keep the value of
///     such a path, so each object has to be retained by the previous one.
///   - chain: The properties that the components of the key path name, if they are known.
func steps(
  on keyPath: AnyKeyPath, of root: any KeyValueObservable.Type, through properties: [KeyValueProperty],
  keepingLast: Bool, _ chain: KeyPathChain?
) -> [LeafStep]? {
  var made: AnyKeyPath?
  var type: any KeyValueObservable.Type = root
  var steps: [LeafStep] = []
  for (index, property) in properties.enumerated() {
    let cls = KeyValueClass.of(type: type)
    guard let declared = cls.property(named: property.name), declared.isDirect, !cls.isAffected(declared.key) else {
      return nil
    }
    made =
      made.map { $0.appending(path: declared.path) ?? declared.chained.flatMap($0.appending(path:)) } ?? declared.path
    steps.append(LeafStep(declared, of: type))
    if index == properties.count - 1 { break }
    if keepingLast, !declared.isOwning || cls.isManual(declared.key) { return nil }
    var value = Swift.type(of: declared.path).valueType
    if let optional = value as? any OptionalProtocol.Type { value = optional.wrappedType }
    guard let next = value as? any KeyValueObservable.Type else { return nil }
    type = next
  }
  let isPath = made.map { isSame($0, keyPath) } ?? false
  return isPath || isForced(keyPath, through: steps, chain) ? steps : nil
}

/// Returns whether the key path is the path through these properties with `!` after an object.
private func isForced(_ keyPath: AnyKeyPath, through steps: [LeafStep], _ chain: KeyPathChain?) -> Bool {
  // The path with `!` after each object, and those with `!` after the first ones and `?` after the others.
  var forced: AnyKeyPath? = steps[0].property.path
  var chained: [AnyKeyPath] = []
  for property in steps.dropFirst().lazy.map(\.property) {
    func longer(_ path: AnyKeyPath) -> AnyKeyPath? {
      path.appending(path: property.path) ?? property.chained.flatMap(path.appending(path:))
    }
    chained = chained.compactMap(longer)
    guard let present = forced else { continue }
    if let optional = type(of: present).valueType as? any OptionalProtocol.Type {
      chained += [longer(present)].compactMap(\.self)
      forced = present.appending(path: optional.forced)?.appending(path: property.path)
    } else {
      forced = present.appending(path: property.path)
    }
  }
  if (chained + [forced].compactMap(\.self)).contains(where: { isSame($0, keyPath) }) { return true }
  // A path with `?` before `!` cannot be built, because it ends with a component that the appended one has elsewhere.
  guard let chain, chain.properties.map(\.key) == steps.map(\.property.key) else { return false }
  return keyPath.debugDescription.contains("!")
}

private func isSame(_ made: AnyKeyPath, _ keyPath: AnyKeyPath) -> Bool {
  type(of: made).valueType == type(of: keyPath).valueType && made.hashValue == keyPath.hashValue
}
