// The box of an expression's observation: evaluates the expression and detects whether it is a path to one stored property.

public import CKVO
import Foundation
public import Synchronization

/// The box of an observation of an expression: anything but a stored property of the object itself.
@usableFromInline
final class ExpressionBox<Object: KeyValueObservable, Value>: ObservationBox {
  /// Not retained: the runtime also evaluates after a change of another object, on a thread that has no reference to this object.
  @usableFromInline let object: UnretainedObject<Object>
  @usableFromInline let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
  private let path: ExpressionPath<Object, Value>
  /// The property, if the key path names a single property of the object.
  private let property: ComputedRead?
  private let wantsOld: Bool
  /// Whether an evaluation has already shown everything about the key path, so that later ones need no check.
  private let isExpression = Atomic<Bool>(false)
  /// A retained `PathLeaf<Value>`, or 0 if none was found yet.
  @usableFromInline let leaf = Atomic<UInt>(0)

  @usableFromInline
  init(
    _ object: Object, _ path: ExpressionPath<Object, Value>, _ options: NSKeyValueObservingOptions,
    _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void, deliver: @escaping Deliver
  ) {
    self.object = UnretainedObject(object)
    self.handler = handler
    self.path = path
    property = object.property(at: path.keyPath).map { ComputedRead($0, of: object) }
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
    guard let property else { return follow(from: object) ?? evaluatePath(from: object) }
    return property.recorded(object) {
      property.isSame(as: Value.self)
        ? property.property.copy(Unmanaged.passUnretained(object).toOpaque(), nil)!
        : .__copy(object[keyPath: path.keyPath], as: Value.self)
    }
  }

  override func release(_ value: UnsafeMutableRawPointer) { value.__release(as: Value.self) }

  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    isEqual(first.assumingMemoryBound(to: Value.self).pointee, second.assumingMemoryBound(to: Value.self).pointee)
  }

  override func value(
    of property: OpaquePointer, at storage: UnsafeRawPointer
  ) -> UnsafeMutableRawPointer? {
    guard let leaf = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PathLeaf<Value>>.fromOpaque(leaf)._withUnsafeGuaranteedRef {
      .__copy($0.read(storage), as: Value.self)
    }
  }

  func register(
    with object: Object, _ options: NSKeyValueObservingOptions, _ site: SourceLocation,
    _ observer: ObserverDescription?
  ) -> kvo_observation {
    let property = property?.property
    var observer = observer
    if path.isStored(property, of: object) { observer?.evaluator = nil }
    if let property { object.reportDeclaration(of: property.name, site) }
    return (property?.name ?? path.name(in: object)).withCString { keyPath in
      ObserverDescription.withC(observer) { observer in
        register(
          with: object.adoptedObject, key: nil, keyPath: keyPath, options: kvo_options(options, endsWithObject: true),
          observer: observer, site: site, keepsLast: wantsOld && holdsNoObject(Value.self),
          hasGaps: path.chain?.hasGaps ?? true)
      }
    }
  }

  /// Returns the change to deliver when the property at the end of a path changes. The record's values are those of that property.
  @inlinable
  @inline(__always)
  func changeOfLeaf(_ raw: UnsafePointer<kvo_raw_change>) -> NSKeyValueObservedChange<Value> {
    // Without a leaf, the change is one of the expression's own property whose elements were announced.
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

  /// Checks whether this evaluation read exactly the properties that the key path names, each of the object that the previous
  /// property holds. If so, the value of the expression is the value of the last property.
  ///
  /// - Parameter own: The number of the first read of the key path itself.
  private func look(atPathTo value: Value, from root: Object, _ own: Int) {
    withUnsafeTemporaryAllocation(of: kvo_read.self, capacity: mostReads) { buffer in
      let count = kvo_track_reads(buffer.baseAddress!, buffer.count)
      guard count <= buffer.count || own == 0 else { return lookAgain(from: root, value) }
      guard count > 0, count <= buffer.count else { return }
      // If the key recorded last is that of the key path's first property, the two are one read.
      let first = path.firstOfHead?.renamed(in: root).key
      let isOne =
        own > 0
        && (own == count || buffer[own].object != root.__keyValueObject || buffer[own].keyValueProperty?.key != first)
      let reads = UnsafeBufferPointer(rebasing: buffer[(isOne ? own - 1 : own)..<count])
      let properties = reads.compactMap(\.keyValueProperty)
      guard properties.count == reads.count else { return }
      if reads.count > 1, isLeaf(properties) {
        guard isChain(reads, properties, from: root) else { return }
        return kvo_track_value_is_of(reads[reads.count - 1].object, properties[reads.count - 1].key)
      }
      path.look(from: root, reads, properties)
      // If an object on the path was `nil`, a later evaluation may read more properties.
      if unwrapped(value) != nil { isExpression.store(true, ordering: .relaxed) }
    }
  }

  /// Does the same in an evaluation of the key path alone, because too much is declared to affect its keys.
  private func lookAgain(from root: Object, _ value: Value) {
    path.look(from: root)
    if unwrapped(value) != nil { isExpression.store(true, ordering: .relaxed) }
  }

  /// Evaluates a path through its key path. A function of its own, because the lookup of the metadata of `Value?` takes long.
  @inline(never)
  private func evaluatePath(from root: Object) -> UnsafeMutableRawPointer? {
    let looks = kvo_track_is_recording() && !isExpression.load(ordering: .relaxed)
    var own: Int? = looks ? 0 : nil
    guard let value = path.read(root, &own) else { return nil }
    if let own { look(atPathTo: value, from: root, own) }
    return .__copy(value, as: Value.self)
  }

  /// Evaluates a path that is known to go through stored properties, one getter after the other; faster than the key path. `nil` if
  /// that is not known, if an object on the path is `nil`, or if the getters did not read exactly those properties.
  private func follow(from root: Object) -> UnsafeMutableRawPointer? {
    guard let known = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PathLeaf<Value>>.fromOpaque(known)._withUnsafeGuaranteedRef {
      (leaf: PathLeaf<Value>) -> UnsafeMutableRawPointer? in
      guard leaf.isWalkable, !path.needsKeys else { return nil }
      return withUnsafeTemporaryAllocation(of: KeyValueObjectReference.self, capacity: leaf.steps.count) {
        (headers) -> UnsafeMutableRawPointer? in
        var object: AnyObject = root
        for index in 0..<(leaf.steps.count - 1) {
          headers[index] = leaf.steps[index].header(object)
          guard let next = leaf.steps[index].property.object(of: object) else { return nil }
          object = next
        }
        let last = leaf.steps[leaf.steps.count - 1]
        headers[leaf.steps.count - 1] = last.header(object)
        let value = last.property.copy(Unmanaged.passUnretained(object).toOpaque(), nil)!
        if kvo_track_is_recording(), leaf.isRead(from: headers) {
          kvo_track_value_is_of(headers[headers.count - 1], last.property.key)
        }
        return leaf.converted(value)
      }
    }
  }

  /// Returns whether the key path is the path through these properties.
  private func isLeaf(_ properties: [KeyValueProperty]) -> Bool {
    if let known = UnsafeRawPointer(bitPattern: leaf.load(ordering: .acquiring)) {
      return Unmanaged<PathLeaf<Value>>.fromOpaque(known)._withUnsafeGuaranteedRef {
        $0.steps.lazy.map(\.property.key).elementsEqual(properties.lazy.map(\.key))
      }
    }
    guard let steps = steps(on: path.keyPath, of: Object.self, through: properties, keepingLast: wantsOld, path.chain),
      let reader = steps[steps.count - 1].property.reader(as: Value.self)
    else { return false }
    let made = Unmanaged.passRetained(PathLeaf(steps, reader))
    let address = UInt(bitPattern: made.toOpaque())
    if !leaf.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing).exchanged {
      made.release()
    }
    return true
  }
}

/// How an expression that is one property of its object is recorded. What depends on the object's class is found once.
private struct ComputedRead {
  let property: KeyValueProperty
  private let header: KeyValueObjectReference
  /// Whether key paths are declared that affect the property, and whether its own reads do not count.
  private let isAffected, isDeclared: Bool
  private let isCollection: Bool
  private let valueType: Any.Type

  init(_ property: KeyValueProperty, of object: some KeyValueObservable) {
    let cls = KeyValueClass.of(object)
    self.property = property
    header = object.adoptedObject
    isAffected = cls.isAffected(property.key)
    isDeclared = cls.isDeclared(property)
    isCollection = property.isCollection
    valueType = type(of: property.path).valueType
  }

  /// Returns whether the property's type is a type.
  func isSame(as type: Any.Type) -> Bool { valueType == type }

  /// Reads the property's value and, if this thread records, records what it depends on.
  func recorded(
    _ object: some KeyValueObservable, _ read: () -> UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    guard kvo_track_is_recording() else { return read() }
    if isAffected {
      object.recordDependencies(ofKey: property.name)
    } else {
      kvo_track_coded_read(header, property.key)
    }
    let paused = isDeclared ? kvo_track_pause() : nil
    let value = read()
    if isDeclared { kvo_track_resume(paused) }
    if isCollection { kvo_track_elements_are_of(header, property.key) }
    return value
  }
}
