// The key path of an expression, and what its evaluations have shown about it.

import CKVO
import Synchronization

/// The key path of an observation of an expression: anything but a stored property of the object itself.
@usableFromInline
final class ExpressionPath<Root: KeyValueObservable, Value>: @unchecked Sendable {
  // `@unchecked Sendable` is safe: creating a key path and reading through it changes no shared state.
  let keyPath: KeyPath<Root, Value>
  /// A retained `IndexedPath<Value>`, 0 to read the key path directly, or 1 for `forced`.
  private let reader: Atomic<UInt>

  /// The properties that the key path goes through, if they are known.
  let chain: KeyPathChain?
  /// The first of them, if their keys have to be recorded.
  private let head: KeyPathHead?
  /// The properties that must not be `nil` when the key path is read, if there are any and they are known.
  private let forced: ForcedPath?

  @usableFromInline
  init(_ keyPath: KeyPath<Root, Value>) {
    self.keyPath = keyPath
    let known = KeyValueClass.of(type: Root.self).known(of: keyPath)
    chain = known?.chain
    head = known?.head
    forced = known?.forced
    reader = Atomic(forced == nil ? 0 : 1)
  }

  /// Whether the key path goes through stored properties only. Then it is read where one of them is changed, also for code of an actor,
  /// which so gets all its values.
  ///
  /// - Parameter property: The property, if the key path names a single property of the object.
  func isStored(_ property: KeyValueProperty?, of root: Root) -> Bool {
    property.map { $0.notifiesAlways(in: KeyValueClass.of(root)) } ?? chain.map { !$0.needsKeys } ?? false
  }

  /// Whether a property on the path is announced manually or declared to depend on others, so that its key has to be recorded.
  var needsKeys: Bool { chain?.needsKeys ?? (head != nil) }

  /// The first property of the key path whose key is recorded before it is read.
  var firstOfHead: KeyValueProperty? { head?.properties.first }

  /// The key path's name, for reports and for the end by key path.
  func name(in object: Root) -> String {
    chain?.name ?? (object as? KeyValueRuntimeObject)?.key(of: keyPath)
      ?? KeyValueClass.of(type: Root.self).printedName(of: keyPath)
  }

  deinit {
    let reader = reader.load(ordering: .acquiring)
    if reader > 1 { Unmanaged<IndexedPath<Value>>.fromOpaque(UnsafeRawPointer(bitPattern: reader)!).release() }
  }

  /// Returns the present value, or `nil` if the path goes through an array index that has become out of range, or through `!` after
  /// a value that is `nil`.
  ///
  /// - Parameter own: Is set, unless it is `nil`, to the number of the first read of the key path itself; those before it record keys.
  func read(_ root: Root, _ own: inout Int?) -> Value? {
    if let chain, needsKeys { return read(root, through: chain) }
    guard let head else { return readDirectly(root) }
    let replacesReads = head.record(from: root)
    if own != nil { own = kvo_track_reads(nil, 0) }
    guard replacesReads else { return readDirectly(root) }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    return readDirectly(root)
  }

  @usableFromInline
  func read(_ root: Root) -> Value? {
    var own: Int?
    return read(root, &own)
  }

  private func readDirectly(_ root: Root) -> Value? {
    let reader = reader.load(ordering: .acquiring)
    if reader == 0 { return root[keyPath: keyPath] }
    guard reader > 1 else { return forced!.read(root) { root[keyPath: keyPath] } }
    return Unmanaged<IndexedPath<Value>>.fromOpaque(UnsafeRawPointer(bitPattern: reader)!)._withUnsafeGuaranteedRef {
      $0.read(root)
    }
  }

  /// Reads the value as a string key path is read: each key's declared dependencies are recorded too.
  private func read(_ root: Root, through chain: KeyPathChain) -> Value? {
    var value: Any? = root
    for (index, property) in chain.properties.enumerated() {
      // If an object on the path is `nil`, so is the value.
      guard let object = value.flatMap(observable) else { break }
      let property = property.renamed(in: object)
      object.recordDependencies(ofKey: property.name)
      value = unwrapped(object.recorded(property) { $0.read(object) })
      if value == nil, let forced, forced.isForced(behind: index) { return nil }
    }
    return value as? Value
  }

  /// Checks, in an evaluation of the key path alone, whether it goes through array indexes.
  func look(from root: Root) {
    PathProbe(root, keyPath) { reads in
      let properties = reads.compactMap(\.keyValueProperty)
      if properties.count == reads.count { self.look(from: root, reads, properties) }
    }.run(SourceLocation(file: #fileID, line: #line))
  }

  /// Checks, within an evaluation that has read these properties, whether the key path goes through array indexes.
  func look(from root: Root, _ reads: UnsafeBufferPointer<kvo_read>, _ properties: [KeyValueProperty]) {
    let present = reader.load(ordering: .relaxed)
    guard chain == nil, present <= 1,
      let found = IndexedPath<Value>(keyPath, of: root, reads: reads, properties)
    else { return }
    let made = Unmanaged.passRetained(found)
    let address = UInt(bitPattern: made.toOpaque())
    if !reader.compareExchange(expected: present, desired: address, ordering: .acquiringAndReleasing).exchanged {
      made.release()
    }
  }
}

/// Returns whether each object that was read is the value of the property that was read before it. An overridden getter may have
/// read the property of the same name of another object.
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

/// How many reads of an evaluation the runtime remembers: `KVO_MAX_READS`.
let mostReads = 16

extension kvo_read {
  /// The property, or `nil` for a property of an object of another language.
  var keyValueProperty: KeyValueProperty? { property.flatMap(KeyValueProperty.of) }
}
