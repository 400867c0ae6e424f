// An observable class: its properties by name and by key path, its declared dependencies, and its class in the C runtime.

import CKVO
import CSwiftRuntime
import Synchronization

/// A key of a property that subclasses may not see.
struct DeclaredKey: Hashable {
  let key: UInt64
  let owner: ObjectIdentifier
}

/// Returns the hash that identifies a key in the runtime.
func keyHash(_ name: String) -> UInt64 {
  var name = name
  return name.withUTF8 { bytes in
    bytes.withMemoryRebound(to: CChar.self) { kvo_key_hash($0.baseAddress ?? emptyName, $0.count) }
  }
}

private nonisolated(unsafe) let emptyName = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

/// A class that was observed. There is one instance per Swift type, which is never deallocated, like its C class, and others only
/// while the class's members are asked about its keys. Immutable except for `address`, and therefore safe on any thread, although key
/// paths are not marked `Sendable`.
final class KeyValueClass: @unchecked Sendable {
  let type: any KeyValueObservable.Type
  let properties: [KeyValueProperty]
  /// The declared key paths that affect each key.
  let affectingPaths: [UInt64: [String]]
  /// The affecting key paths that have no string form: typed ones of several components.
  let affectingKeyPaths: [UInt64: [AnyKeyPath]]
  /// All declarations for the keys that would affect themselves.
  let selfDependencies: [UInt64: [String]]
  /// For each key a declared key path that is malformed, if there is one.
  let malformedPaths: [UInt64: String]
  private let manualKeys: Set<UInt64>
  private let byKey: [UInt64: KeyValueProperty]
  private let byPath: [AnyKeyPath: KeyValueProperty]
  /// The cached properties for key paths that are not equal to a property's own.
  let resolvedPaths = KeyPathTable<KeyValueProperty>()
  let announcedPaths = KeyPathTable<KeyValueProperty>()
  private let knownPaths = KeyPathTable<KnownKeyPath>()
  private let printedNames = KeyPathTable<String>()
  /// The properties by the keys that stand for them besides their names.
  private let aliases: [UInt64: KeyAlias]
  /// Whether the class overrides `value(forKey:)`.
  let answersKeysItself: Bool
  private let validators: [String: KeyValueClassDescription.Validator]
  let description: KeyValueClassDescription
  /// Whether it has the answers of the members: see ``ClassesBeingDescribed``.
  private let hasAnswers: Bool
  /// Whether any class has such keys; if not, the lookup of a key by its class can be skipped.
  static let hasRedeclaredKeys = Atomic<Bool>(false)
  /// Whether any class has aliases; if not, the lookup of a key by its class can be skipped.
  static let hasAliases = Atomic<Bool>(false)
  /// The address of the C class, or 0 until the first instance is registered with the runtime.
  private let address = Atomic<UInt>(0)

  private static let all = Guarded<[ObjectIdentifier: KeyValueClass]>([:])
  private static let recent = ClassTable()

  /// - Parameters:
  ///   - accessesVariables: What the class answers as `accessInstanceVariablesDirectly`.
  ///   - hasAnswers: Whether the members are asked about the keys, which calls the program's code.
  init(_ type: any KeyValueObservable.Type, accessesVariables: Bool, hasAnswers: Bool) {
    let description = KeyValueClassDescription.of(type)
    self.type = type
    self.hasAnswers = hasAnswers
    // A subclass may list a property again, for example as a computed override: the last entry counts.
    var byKey: [UInt64: KeyValueProperty] = [:]
    for property in description.properties { byKey[property.key] = property }
    self.byKey = byKey
    properties = description.properties.filter { byKey[$0.key] === $0 }
    byPath = Dictionary(description.properties.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    aliases = KeyAlias.all(of: properties, withVariables: accessesVariables)
    if !aliases.isEmpty { Self.hasAliases.store(true, ordering: .relaxed) }
    if !description.redeclaredKeys.isEmpty { Self.hasRedeclaredKeys.store(true, ordering: .relaxed) }
    let answers = hasAnswers ? KeyAnswers(type, description, properties, aliases.values) : KeyAnswers()
    manualKeys = answers.manualKeys
    affectingPaths = answers.affectingPaths
    affectingKeyPaths = answers.affectingKeyPaths
    selfDependencies = answers.selfDependencies
    malformedPaths = answers.malformedPaths
    validators = description.validators
    answersKeysItself = description.answersKeysItself
    self.description = description
  }

  static func of(type: any KeyValueObservable.Type) -> KeyValueClass {
    let identifier = ObjectIdentifier(type)
    if let known = recent.find(identifier) { return known }
    if let known = all.withLock({ $0[identifier] }) {
      recent.keep(identifier, known)
      return known
    }
    // What the members use while they are asked is not kept.
    return ClassesBeingDescribed.unanswered(type) ?? make(type)
  }

  private static func make(_ type: any KeyValueObservable.Type) -> KeyValueClass {
    let identifier = ObjectIdentifier(type)
    let made = ClassesBeingDescribed.describe(type)  // outside the lock, because it calls the program's code
    let kept = all.withLock { classes in
      if let known = classes[identifier] { return known }
      classes[identifier] = made
      return made
    }
    recent.keep(identifier, kept)
    return kept
  }

  /// Returns the class of an object by its dynamic type.
  static func of(_ object: some KeyValueObservable) -> KeyValueClass { of(type: Swift.type(of: object)) }

  func property(at path: AnyKeyPath) -> KeyValueProperty? { byPath[path] }

  /// Returns the name of a key path that is no chain of properties, for reports.
  func printedName(of keyPath: AnyKeyPath) -> String {
    printedNames.value(for: keyPath) { KeyPathComponent.printedName(of: keyPath) } ?? ""
  }

  /// Returns the properties on a key path of several components.
  func chain(of path: AnyKeyPath) -> KeyPathChain? { known(of: path)?.chain }

  /// Returns what is known about a key path without evaluating it.
  func known(of path: AnyKeyPath) -> KnownKeyPath? { knownPaths.value(for: path) { KnownKeyPath(path, from: self) } }

  /// Returns the property for a key.
  func property(named name: String) -> KeyValueProperty? {
    let hash = keyHash(name)
    if let property = byKey[hash], property.name == name { return property }
    guard let alias = aliases[hash], alias.key == name else { return nil }
    return alias.property
  }

  /// Returns the key of a property that one of the superclasses declares.
  func key(_ key: UInt64, declaredIn owner: any AnyObject.Type) -> UInt64 {
    description.redeclaredKeys[DeclaredKey(key: key, owner: ObjectIdentifier(owner))] ?? key
  }

  /// Returns the property that a property of a superclass is in this class.
  func renamed(_ property: KeyValueProperty) -> KeyValueProperty {
    guard let owner = property.owner else { return property }
    let key = key(property.key, declaredIn: owner)
    return key == property.key ? property : byKey[key] ?? property
  }

  /// Returns whether a superclass has another property of the same name.
  func isRedeclared(_ key: UInt64) -> Bool { description.redeclaredKeys.keys.contains { $0.key == key } }

  func validator(forKey key: String) -> KeyValueClassDescription.Validator? { validators[capitalized(key)] }

  func isAffected(_ key: UInt64) -> Bool { affectingPaths[key] != nil || affectingKeyPaths[key] != nil }
  func isSelfDependent(_ key: UInt64) -> Bool { selfDependencies[key] != nil }
  /// Returns whether setting the key does not notify.
  func isManual(_ key: UInt64) -> Bool { manualKeys.contains(key) }
  /// Returns whether the class declares the dependencies of a computed property or announces it manually, so that its reads do not
  /// count.
  func isDeclared(_ property: KeyValueProperty) -> Bool {
    property.isComputed && (isAffected(property.key) || isManual(property.key))
  }

  /// Returns the reason why an observation of one key can never notify, if that is known; `nil` if it may notify.
  func silence(of key: String) -> kvo_silence? {
    // A manual announcement needs neither a setter nor a property.
    if description.isAnnounced(key) { return nil }
    if let property = property(named: key) {
      guard property.isDirect, !property.isStored, !isManual(property.key), !isAffected(property.key) else {
        return nil
      }
      return property.isConstant ? KVO_SILENCE_CONSTANT : KVO_SILENCE_NOT_OBSERVED
    }
    guard !mayHaveOtherKeys, type.automaticallyNotifiesObservers(forKey: key) else { return nil }
    return KVO_SILENCE_UNDEFINED
  }

  /// Whether a key that is no property may have a value, or be announced. A subclass without a description may have any key.
  private var mayHaveOtherKeys: Bool {
    !description.isOf(type) || answersKeysItself || description.answersUndefinedKeysItself
      || description.announcesAnyKey
  }

  /// Returns the C class, which is registered if necessary; `offset` is the offset of the header in instances.
  func pointer(offset: Int) -> OpaquePointer {
    if let known = OpaquePointer(bitPattern: address.load(ordering: .acquiring)) { return known }
    let superclass = _getSuperclass(type) as? any KeyValueObservable.Type
    let parent = superclass.map { KeyValueClass.of(type: $0).pointer(offset: offset) }
    // Serialized: if two threads registered the same class, the second would get another name.
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
    let amongOthers = mayHaveOtherKeys ? UInt32(KVO_PROPERTY_AMONG_OTHERS) : 0
    let described = properties.map { property in
      kvo_binding_property(
        name: strings.copy(property.name), type: strings.copy(property.encoding), ops: KeyValueProperty.operations,
        user: Unmanaged.passUnretained(property).toOpaque(),
        affected_by: affectingPaths[property.key].map { strings.copy($0) },
        flags: (manualKeys.contains(property.key) ? UInt32(KVO_PROPERTY_MANUAL) : 0)
          | (property.isDirect ? 0 : UInt32(KVO_PROPERTY_COMPUTED))
          // C does not support typed key paths; such a property depends on what is read instead.
          | (isDeclared(property) && affectingKeyPaths[property.key] == nil ? UInt32(KVO_PROPERTY_DECLARED) : 0)
          | (property.isWeak || description.isAnnounced(property.declaredName) ? UInt32(KVO_PROPERTY_TOLD) : 0)
          | amongOthers)
    }
    var made: OpaquePointer?
    let name = _typeName(type, qualified: false)
    let status = kvo_binding_class_register(
      hasAnswers ? name : "\(name) (being described)", superclass, offset, described, described.count, &made)
    guard status == KVO_OK, let made else {
      fatalError("KVO cannot register \(type): \(String(cString: kvo_status_string(status)))")
    }
    kvo_binding_class_keep(made, retainSwiftObject, { Unmanaged<AnyObject>.fromOpaque($0).release() })
    return made
  }
}
