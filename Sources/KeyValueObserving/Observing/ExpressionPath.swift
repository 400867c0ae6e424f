// The key path of an expression, and what its evaluations have shown of it.

import CKVO
import Synchronization

/// The key path of an observation of anything but a stored property of the object itself.
@usableFromInline
final class ExpressionPath<Root: KeyValueObservable, Value>: @unchecked Sendable {
  // Making a key path, and reading through it, touches no state of its own.
  let keyPath: KeyPath<Root, Value>
  /// An evaluation has shown all: no further one need be looked at.
  let isExpression = Atomic<Bool>(false)
  /// A retained `IndexedPath<Value>`, or 0.
  private let indexed = Atomic<UInt>(0)

  /// The properties that it goes through, where that is known.
  private let chain: KeyPathChain?

  @usableFromInline
  init(_ keyPath: KeyPath<Root, Value>) {
    self.keyPath = keyPath
    chain = KeyValueClass.of(type: Root.self).chain(of: keyPath)
  }

  /// For reports.
  var name: String { chain?.name ?? "\(keyPath)" }

  deinit {
    if let indexed = UnsafeRawPointer(bitPattern: indexed.load(ordering: .acquiring)) {
      Unmanaged<IndexedPath<Value>>.fromOpaque(indexed).release()
    }
  }

  /// The present value; `nil` outside where it goes through a position that an array does not have (any more).
  func read(_ root: Root) -> Value? {
    if let chain, chain.needsKeys { return read(root, through: chain) }
    guard let indexed = UnsafeRawPointer(bitPattern: indexed.load(ordering: .acquiring)) else {
      return root[keyPath: keyPath]
    }
    return Unmanaged<IndexedPath<Value>>.fromOpaque(indexed)._withUnsafeGuaranteedRef { $0.read(root) }
  }

  /// As a string key path is read: with what each key is declared to depend on, and what is announced for it.
  private func read(_ root: Root, through chain: KeyPathChain) -> Value? {
    var value: Any? = root
    for property in chain.properties {
      // An object on the way is `nil`, and with it the value.
      guard let object = value.flatMap(observable) else { break }
      object.recordDependencies(ofKey: property.name)
      value = unwrapped(object.recorded(property) { $0.read(object) })
    }
    return value as? Value
  }

  /// Looks whether the key path goes through positions, within an evaluation that has read these properties.
  func look(from root: Root, _ reads: UnsafeBufferPointer<kvo_read>, _ properties: [KeyValueProperty]) {
    guard chain == nil, indexed.load(ordering: .relaxed) == 0,
      let found = IndexedPath<Value>(keyPath, of: root, reads: reads, properties)
    else { return }
    let made = Unmanaged.passRetained(found)
    let address = UInt(bitPattern: made.toOpaque())
    if !indexed.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing).exchanged {
      made.release()
    }
  }
}

/// What is known of a path to a stored property.
@usableFromInline
final class PathLeaf<Value> {
  /// Of all components, the property's own last.
  let keys: [UInt64]
  /// Makes the path's value of the property's; they differ by an optional.
  @usableFromInline let read: (UnsafeRawPointer) -> Value

  init(keys: [UInt64], read: @escaping (UnsafeRawPointer) -> Value) {
    self.keys = keys
    self.read = read
  }
}

/// Whether each object that was read is the value of the property that was read before it: an overridden getter may have read the
/// like-named property of another object.
func isChain(
  _ reads: UnsafeBufferPointer<kvo_read>, _ properties: [KeyValueProperty], from root: any KeyValueObservable
) -> Bool {
  let paused = kvo_track_pause()
  defer { kvo_track_resume(paused) }
  var object = root
  for index in 0..<reads.count {
    guard object.__keyValueObject == reads[index].object else { return false }
    if index == reads.count - 1 { return true }
    guard let next = unwrapped(properties[index].read(object)).flatMap(observable) else { return false }
    object = next
  }
  return true
}

extension kvo_read {
  /// `nil` for a property of a C object.
  var keyValueProperty: KeyValueProperty? {
    property.flatMap { kvo_property_user($0) }.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Whether a key path is the path through these properties and nothing else.
///
/// What a key path consists of cannot be asked. But the path through the properties can be put together, and compared: by hash, for
/// `==` distinguishes paths through an optional by how they were made. The hash is of 64 bits over all components.
///
/// - Parameter keepingLast: The death of an object on the way has to tell the old value. Nothing keeps the value of such a path, so
///   that all on the way have to be held by the one before.
func isPath(
  _ keyPath: AnyKeyPath, of root: any KeyValueObservable.Type, through properties: [KeyValueProperty], keepingLast: Bool
) -> Bool {
  var made: AnyKeyPath?
  var type: any KeyValueObservable.Type = root
  for (index, property) in properties.enumerated() {
    let cls = KeyValueClass.of(type: type)
    guard let declared = cls.property(named: property.name), declared.isDirect, !cls.isAffected(declared.key) else {
      return false
    }
    made =
      made.map { $0.appending(path: declared.path) ?? declared.chained.flatMap($0.appending(path:)) } ?? declared.path
    if index == properties.count - 1 { break }
    if keepingLast, !declared.isOwning || cls.isManual(declared.key) { return false }
    var value = Swift.type(of: declared.path).valueType
    if let optional = value as? any OptionalProtocol.Type { value = optional.wrappedType }
    guard let next = value as? any KeyValueObservable.Type else { return false }
    type = next
  }
  return made.map {
    Swift.type(of: $0).valueType == Swift.type(of: keyPath).valueType && $0.hashValue == keyPath.hashValue
  } ?? false
}
