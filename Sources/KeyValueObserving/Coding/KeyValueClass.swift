// What is known of an observable class: its properties by name and by key path, and its twin in the C runtime.

import CKVO
import Synchronization

/// Collects the properties of a class; the code that the macro writes calls it.
public final class KeyValueClassDescription {
  var properties: [KeyValueProperty] = []
  /// By capitalised key: what to ask, for the answer may need that of another key.
  private var affecting: [String: [() -> Set<String>]] = [:]
  private var notifying: [String: [() -> Bool]] = [:]
  private(set) var answersKeysItself = false
  private(set) var answersUndefinedKeysItself = false
  private var described: Set<ObjectIdentifier> = []
  private var announcedKeys: Set<String> = []
  private var announcesAnyKey = false
  private(set) var validators: [String: Validator] = [:]

  typealias Validator = (AnyObject, inout Any?) throws -> Void

  /// Adds a stored property whose accessors notify.
  ///
  /// - Parameter chained: The key path from an optional object, as in `\Note?.?.title`. It tells that a longer key path ends at
  ///   this property, or goes on behind it, whose observation then costs little more than that of the property alone. Leave it out
  ///   for an `unowned` one.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil
  ) {
    observed(name, path, chained, ValueReaders<Value>(), nil)
  }

  /// The same, for a property that is no collection: how it is changed in place does not matter.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    inPlace: (Root, (inout Value) -> Void) -> Void
  ) {
    observed(name, path, chained, ValueReaders<Value>(), nil)
  }

  /// Adds a stored property that is a collection.
  ///
  /// - Parameter inPlace: Lends the property to a function that changes it, as in `{ $1(&$0.pages) }`. A key path would copy the
  ///   collection for it.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value: _KeyValueCollection>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    inPlace: @escaping (Root, (inout Value) -> Void) -> Void
  ) {
    observed(name, path, chained, ValueReaders<Value>(), inPlace)
  }

  @usableFromInline
  func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath?,
    _ readers: ValueReaders<Value>, _ inPlace: ((Root, (inout Value) -> Void) -> Void)?
  ) {
    add(name, path, chained, readers, inPlace, isStored: true, isDirect: true)
  }

  /// Adds a stored weak property: the death of what it refers to is a change that no accessor makes.
  public func observedWeak<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>
  ) {
    add(name, path, isStored: false, isDirect: false, isTold: true)
  }

  /// Adds a stored property whose accessors do not notify: constant, or not observed. Its changes can be announced by hand.
  public func stored<Root: AnyObject, Value>(_ name: StaticString, _ path: KeyPath<Root, Value>) {
    add(name, path, isStored: false, isDirect: true)
  }

  /// Adds a computed property; what it reads is found by evaluating it.
  public func property<Root: AnyObject, Value>(_ name: StaticString, _ path: KeyPath<Root, Value>) {
    add(name, path, isStored: false, isDirect: false, isComputed: true)
  }

  /// Says of which class the list is; a subclass without the macro has that of its superclass.
  public func of(_ type: any AnyObject.Type) -> KeyValueClassDescription {
    described.insert(ObjectIdentifier(type))
    return self
  }

  /// Whether the class has a list of its own.
  func isOf(_ type: any AnyObject.Type) -> Bool { described.contains(ObjectIdentifier(type)) }

  /// Key paths to the properties of a class, by their names.
  public func paths<Root: AnyObject>(of type: Root.Type) -> KeyValuePaths<Root> { KeyValuePaths() }

  /// Leaves out a property whose value cannot be copied, such as a `Mutex`: no key path can name it.
  public func stored(_ name: StaticString, _ path: KeyValueNoPath) {}

  /// Leaves out a computed property whose value cannot be copied.
  public func property(_ name: StaticString, _ path: KeyValueNoPath) {}

  private func add<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    _ readers: ValueReaders<Value> = ValueReaders(), _ inPlace: InPlace<Root, Value>? = nil, isStored: Bool,
    isDirect: Bool, isComputed: Bool = false, isTold: Bool = false
  ) {
    let name = name.description
    properties.append(
      TypedProperty<Root, Value>(
        name: name, key: keyHash(name), path: path, chained: chained, readers: readers, inPlace: inPlace,
        isStored: isStored, isDirect: isDirect, isComputed: isComputed, isTold: isTold))
  }

  /// Declares the key paths that affect a key: what a class answers in `keyPathsForValuesAffecting<Key>`.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter in upper case: `FullName` stands for `fullName` and for `FullName`.
  ///   - keyPaths: The key paths, relative to the object.
  public func affecting(_ capitalizedKey: StaticString, _ keyPaths: @autoclosure @escaping () -> Set<String>) {
    affecting[capitalizedKey.description, default: []].append(keyPaths)
  }

  /// Declares whether setting a key notifies: what a class answers in `automaticallyNotifiesObserversOf<Key>`.
  ///
  /// - Parameter capitalizedKey: The key with its first letter in upper case.
  public func automaticallyNotifies(_ capitalizedKey: StaticString, _ answer: @autoclosure @escaping () -> Bool) {
    notifying[capitalizedKey.description, default: []].append(answer)
  }

  /// Declares that the class has a `value(forKey:)` of its own: observers by string then read its keys by that.
  public func answersKeys() { answersKeysItself = true }

  /// Declares what validates a key: a class's method `validate<Key>(_: inout Any?) throws`.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter in upper case.
  ///   - validate: Calls the method of an object.
  public func validating<Root: AnyObject>(
    _ capitalizedKey: StaticString, _ validate: @escaping (Root, inout Any?) throws -> Void
  ) {
    validators[capitalizedKey.description] = { try validate(unsafeDowncast($0, to: Root.self), &$1) }
  }

  /// Declares that the class has a `value(forUndefinedKey:)` of its own: any key may then have a value.
  public func answersUndefinedKeys() { answersUndefinedKeysItself = true }

  /// Declares that the class announces changes of a key by hand: to observe it is then no KVO0011, whatever it reads.
  ///
  /// - Parameter key: `nil` stands for any.
  public func announces(_ key: StaticString?) {
    if let key { announcedKeys.insert(key.description) } else { announcesAnyKey = true }
  }

  func isAnnounced(_ key: String) -> Bool { announcesAnyKey || announcedKeys.contains(key) }

  /// What the class's members answer for a key.
  func paths(affecting key: String) -> Set<String> {
    affecting[capitalized(key), default: []].reduce(into: []) { $0.formUnion($1()) }
  }

  func automaticallyNotifies(ofKey key: String) -> Bool {
    notifying[capitalized(key), default: []].allSatisfy { $0() }
  }

  private static let all = Guarded<[ObjectIdentifier: KeyValueClassDescription]>([:])

  /// The description of a class; made once.
  static func of(_ type: any KeyValueObservable.Type) -> KeyValueClassDescription {
    let identifier = ObjectIdentifier(type)
    if let known = all.withLock({ $0[identifier] }) { return known }
    let made = KeyValueClassDescription()
    type.__describeKeyValueProperties(made)  // outside the lock: it is the program's code
    return all.withLock { all in
      if let known = all[identifier] { return known }
      all[identifier] = made
      return made
    }
  }

  /// Drops the isolation of a function that only builds key paths.
  ///
  /// A class of the main actor can name its properties' key paths only in code of that actor; making a key path touches no
  /// object, so any thread may do it.
  public static func nonisolated(
    _ body: @escaping @isolated(any) (KeyValueClassDescription) -> Void
  ) -> (KeyValueClassDescription) -> Void {
    unsafeBitCast(body, to: ((KeyValueClassDescription) -> Void).self)
  }
}

/// The hash by which the runtime knows a key.
func keyHash(_ name: String) -> UInt64 {
  var name = name
  return name.withUTF8 { bytes in
    bytes.withMemoryRebound(to: CChar.self) { kvo_key_hash($0.baseAddress ?? emptyName, $0.count) }
  }
}

private nonisolated(unsafe) let emptyName = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

/// A class that was observed; one per Swift type, for ever, as its twin in C.
/// Immutable but for `address`, hence safe on any thread, though key paths are not marked so.
final class KeyValueClass: @unchecked Sendable {
  let type: any KeyValueObservable.Type
  let properties: [KeyValueProperty]
  /// Key paths that affect each key, where any are declared.
  let affectingPaths: [UInt64: [String]]
  /// Of those, the ones that have no name: typed key paths of several components.
  let affectingKeyPaths: [UInt64: [AnyKeyPath]]
  /// Declarations that cannot be, for a key would affect itself: all that was declared for it.
  let selfDependencies: [UInt64: [String]]
  private let manualKeys: Set<UInt64>
  private let byKey: [UInt64: KeyValueProperty]
  private let byPath: [AnyKeyPath: KeyValueProperty]
  /// What is known of key paths that are not equal to a property's own.
  let resolvedPaths = KeyPathTable<KeyValueProperty>()
  let announcedPaths = KeyPathTable<KeyValueProperty>()
  private let chains = KeyPathTable<KeyPathChain>()
  /// Properties by the keys that they answer besides their names.
  private let aliases: [UInt64: KeyAlias]
  /// Whether it has a `value(forKey:)` of its own.
  let answersKeysItself: Bool
  private let validators: [String: KeyValueClassDescription.Validator]
  private let description: KeyValueClassDescription
  /// Whether any class has such keys, so that those who name a key need not ask its class where none has.
  static let hasAliases = Atomic<Bool>(false)
  /// The C class's address, or 0 until the first instance is handed to the runtime.
  private let address = Atomic<UInt>(0)

  private static let all = Guarded<[ObjectIdentifier: KeyValueClass]>([:])
  private static let recent = ClassTable()

  private init(_ type: any KeyValueObservable.Type) {
    let description = KeyValueClassDescription.of(type)
    self.type = type
    // A subclass may list a property again, such as a computed override: the last one stands.
    var byKey: [UInt64: KeyValueProperty] = [:]
    for property in description.properties { byKey[property.key] = property }
    self.byKey = byKey
    properties = description.properties.filter { byKey[$0.key] === $0 }
    byPath = Dictionary(description.properties.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    aliases = KeyAlias.all(of: properties, withVariables: type.accessInstanceVariablesDirectly)
    if !aliases.isEmpty { Self.hasAliases.store(true, ordering: .relaxed) }
    let answers = KeyAnswers(type, description, properties, aliases.values)
    manualKeys = answers.manualKeys
    affectingPaths = answers.affectingPaths
    affectingKeyPaths = answers.affectingKeyPaths
    selfDependencies = answers.selfDependencies
    validators = description.validators
    answersKeysItself = description.answersKeysItself
    self.description = description
  }

  static func of(type: any KeyValueObservable.Type) -> KeyValueClass {
    let identifier = ObjectIdentifier(type)
    if let known = recent.find(identifier) { return known }
    let found = all.withLock({ $0[identifier] }) ?? make(type)
    recent.keep(identifier, found)
    return found
  }

  private static func make(_ type: any KeyValueObservable.Type) -> KeyValueClass {
    let identifier = ObjectIdentifier(type)
    let made = KeyValueClass(type)  // outside the lock: it asks the program's code
    return all.withLock { classes in
      if let known = classes[identifier] { return known }
      classes[identifier] = made
      return made
    }
  }

  /// The class of an object, by its dynamic type.
  static func of(_ object: some KeyValueObservable) -> KeyValueClass { of(type: Swift.type(of: object)) }

  func property(at path: AnyKeyPath) -> KeyValueProperty? { byPath[path] }

  /// The properties that a key path of several components goes through.
  func chain(of path: AnyKeyPath) -> KeyPathChain? { chains.value(for: path) { KeyPathChain(path, from: self) } }

  /// The property that answers a key.
  func property(named name: String) -> KeyValueProperty? {
    let hash = keyHash(name)
    if let property = byKey[hash], property.name == name { return property }
    guard let alias = aliases[hash], alias.key == name else { return nil }
    return alias.property
  }

  func validator(forKey key: String) -> KeyValueClassDescription.Validator? { validators[capitalized(key)] }

  func isAffected(_ key: UInt64) -> Bool { affectingPaths[key] != nil || affectingKeyPaths[key] != nil }
  func isSelfDependent(_ key: UInt64) -> Bool { selfDependencies[key] != nil }
  /// Whether setting it does not notify.
  func isManual(_ key: UInt64) -> Bool { manualKeys.contains(key) }
  /// Whether the class says what changes a computed property, by other keys or by announcing it: what it reads does not count.
  func isDeclared(_ property: KeyValueProperty) -> Bool {
    property.isComputed && (isAffected(property.key) || isManual(property.key))
  }

  /// Why an observation of one key will be told of nothing, as far as that is known; `nil` if it may be.
  func silence(of key: String) -> kvo_silence? {
    // An announcement by hand needs neither a setter nor a property.
    if description.isAnnounced(key) { return nil }
    if let property = property(named: key) {
      return property.isConstant && !isManual(property.key) && !isAffected(property.key) ? KVO_SILENCE_CONSTANT : nil
    }
    // A subclass that is not described may answer for what it wants.
    let mayAnswer = answersKeysItself || description.answersUndefinedKeysItself
    guard description.isOf(type), !mayAnswer, type.automaticallyNotifiesObservers(forKey: key) else { return nil }
    return KVO_SILENCE_UNDEFINED
  }

  /// The twin in C, registered now if need be; `offset` is where instances have their header.
  func pointer(offset: Int) -> OpaquePointer {
    if let known = OpaquePointer(bitPattern: address.load(ordering: .acquiring)) { return known }
    let superclass = _getSuperclass(type) as? any KeyValueObservable.Type
    let parent = superclass.map { KeyValueClass.of(type: $0).pointer(offset: offset) }
    // One at a time: of two that register the same class, the second would get another name.
    return Self.all.withLock { _ in
      if let known = OpaquePointer(bitPattern: address.load(ordering: .acquiring)) { return known }
      let made = register(superclass: parent, offset: offset)
      address.store(UInt(bitPattern: made), ordering: .releasing)
      return made
    }
  }

  private func register(superclass: OpaquePointer?, offset: Int) -> OpaquePointer {
    let strings = TemporaryStrings()
    defer { strings.free() }
    let described = properties.map { property in
      kvo_binding_property(
        name: strings.copy(property.name), type: strings.copy(property.encoding), ops: KeyValueProperty.operations,
        user: Unmanaged.passUnretained(property).toOpaque(),
        affected_by: affectingPaths[property.key].map { strings.copy($0) },
        flags: (manualKeys.contains(property.key) ? UInt32(KVO_PROPERTY_MANUAL) : 0)
          | (property.isDirect ? 0 : UInt32(KVO_PROPERTY_COMPUTED))
          // C does not know typed key paths: it then goes by what is read.
          | (isDeclared(property) && affectingKeyPaths[property.key] == nil ? UInt32(KVO_PROPERTY_DECLARED) : 0)
          | (property.isTold || description.isAnnounced(property.name) ? UInt32(KVO_PROPERTY_TOLD) : 0))
    }
    var made: OpaquePointer?
    let status = kvo_binding_class_register(
      _typeName(type, qualified: false), superclass, offset, described, described.count, &made)
    guard status == KVO_OK, let made else {
      fatalError("KVO cannot register \(type): \(String(cString: kvo_status_string(status)))")
    }
    return made
  }
}
