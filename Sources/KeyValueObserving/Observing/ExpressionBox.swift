// The box of an expression's observation: it evaluates, and finds out whether the expression is a path to one stored property.

public import CKVO
import Foundation
public import Synchronization

/// The box of an observation of anything but a stored property of the object itself.
@usableFromInline
final class ExpressionBox<Object: KeyValueObservable, Value>: ObservationBox {
  /// Not held: the runtime evaluates also after a change elsewhere, on a thread that does not hold the object.
  @usableFromInline let object: UnretainedObject<Object>
  @usableFromInline let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
  private let keyPath: KeyPath<Object, Value>
  /// The property when the expression is one of the object's own.
  private let property: KeyValueProperty?
  private let wantsOld: Bool
  /// A retained `PathLeaf<Value>`, or 0 while none is known.
  @usableFromInline let leaf = Atomic<UInt>(0)
  /// An evaluation has shown that the expression is more than a path.
  private let isNoPath = Atomic<Bool>(false)

  @usableFromInline
  init(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
    _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void, deliver: @escaping Deliver
  ) {
    self.object = UnretainedObject(object)
    self.handler = handler
    self.keyPath = keyPath
    property = KeyValueClass.of(type: Object.self).property(at: keyPath)
    wantsOld = options.contains(.old)
    super.init(deliver: deliver)
  }

  deinit {
    if let leaf = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) {
      Unmanaged<PathLeaf<Value>>.fromOpaque(leaf).release()
    }
  }

  override func evaluate() -> UnsafeMutableRawPointer? {
    guard let object = object.load() else { return nil }
    guard let property else {
      let value = UnsafeMutableRawPointer.__copy(object[keyPath: keyPath], as: Value.self)
      if kvo_track_is_subscribing(), !isNoPath.load(ordering: .relaxed) { declareLeaf(from: object) }
      return value
    }
    object.recordDependencies(ofKey: property.name)
    let value = object.recorded(property) { _ in
      UnsafeMutableRawPointer.__copy(object[keyPath: keyPath], as: Value.self)
    }
    if property.isCollection, kvo_track_is_recording() {
      kvo_track_elements_are_of(object.adoptedObject, property.key)
    }
    return value
  }

  override func release(_ value: UnsafeMutableRawPointer) { value.__release(as: Value.self) }

  func register(
    with object: Object, _ options: NSKeyValueObservingOptions, _ site: ObservationSite
  ) -> NSKeyValueObservation {
    if let property { KeyValueClass.of(object).reportSelfDependency(of: property.name, site) }
    let observation = (property?.name ?? "\(keyPath)").withCString {
      register(
        with: object.adoptedObject, key: nil, keyPath: $0, options: kvo_options(options, endsWithObject: true),
        site: site, keepsLast: wantsOld && holdsNoObject(Value.self))
    }
    return NSKeyValueObservation(observation)
  }

  /// What is delivered for a change of the property at the end of a path; the record's values are that property's.
  @inlinable
  @inline(__always)
  func changeOfLeaf(_ raw: UnsafePointer<kvo_raw_change>) -> NSKeyValueObservedChange<Value> {
    // Without a path it is the expression's own property: its elements were announced.
    guard let leaf = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) else {
      return NSKeyValueObservedChange(__raw: raw)
    }
    return Unmanaged<PathLeaf<Value>>.fromOpaque(leaf)._withUnsafeGuaranteedRef { leaf in
      NSKeyValueObservedChange(
        kind: NSKeyValueChange(rawValue: UInt(raw.pointee.kind.rawValue)) ?? .setting,
        newValue: raw.pointee.new_value == nil ? nil : leaf.read(raw.pointee.new_value!),
        oldValue: raw.pointee.old_value == nil ? nil : leaf.read(raw.pointee.old_value!),
        indexes: raw.pointee.indexes.flatMap { IndexSet(__positions: $0, count: raw.pointee.index_count) },
        isPrior: raw.pointee.is_prior)
    }
  }

  /// If what this evaluation has read are the properties that the key path names, each of the object that the one before holds, and
  /// no more, then its value is that of the last.
  private func declareLeaf(from root: Object) {
    withUnsafeTemporaryAllocation(of: kvo_read.self, capacity: 8) { buffer in
      let count = kvo_track_reads(buffer.baseAddress!, buffer.count)
      guard count > 1, count <= buffer.count else { return }
      let reads = UnsafeBufferPointer(rebasing: buffer[..<count])
      let properties = reads.compactMap(\.keyValueProperty)
      guard properties.count == count, isLeaf(properties), isChain(reads, properties, from: root) else { return }
      kvo_track_value_is_of(reads[count - 1].object, properties[count - 1].key)
    }
  }

  /// Whether the key path is the path through these properties.
  private func isLeaf(_ properties: [KeyValueProperty]) -> Bool {
    if let known = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) {
      return Unmanaged<PathLeaf<Value>>.fromOpaque(known)._withUnsafeGuaranteedRef {
        $0.keys.elementsEqual(properties.lazy.map(\.key))
      }
    }
    guard let reader = properties[properties.count - 1].reader(as: Value.self) else { return false }
    guard isPath(keyPath, of: Object.self, through: properties, keepingLast: wantsOld) else {
      isNoPath.store(true, ordering: .relaxed)
      return false
    }
    let made = Unmanaged.passRetained(PathLeaf(keys: properties.map(\.key), read: reader))
    let address = UInt(bitPattern: made.toOpaque())
    if !leaf.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing).exchanged {
      made.release()
    }
    return true
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
    guard let next = unwrapped(properties[index].read(object)) as? any KeyValueObservable else { return false }
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
