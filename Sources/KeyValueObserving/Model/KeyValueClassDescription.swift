// What the macro's code says about a class: its properties, the answers of its members, and what it overrides.

import CKVO

/// Collects the properties of a class. The generated code calls it.
public final class KeyValueClassDescription {
  var properties: [KeyValueProperty] = []
  /// Closures by capitalized key. They are called later, because an answer may need the description of another key.
  private var affecting: [String: [() -> Set<String>]] = [:]
  private var notifying: [String: [() -> Bool]] = [:]
  private(set) var answersKeysItself = false
  private(set) var answersUndefinedKeysItself = false
  private var described: Set<ObjectIdentifier> = []
  private var announcedKeys: Set<String> = []
  private(set) var announcesAnyKey = false
  private(set) var validators: [String: Validator] = [:]
  /// The class that declares the next property, if subclasses may not see that property.
  private var owner: (any AnyObject.Type)?
  /// The keys of properties of a superclass that a subclass has declared again.
  private(set) var redeclaredKeys: [DeclaredKey: UInt64] = [:]

  typealias Validator = (AnyObject, inout Any?) throws -> Void

  /// Adds a stored property whose accessors notify.
  ///
  /// - Parameters:
  ///   - name: The property's name, which is its key.
  ///   - key: The hash of the name, as ``KeyValueObservationHeader/key(_:)`` returns it.
  ///   - path: The key path of the property.
  ///   - chained: The key path from an optional object, as in `\Note?.?.title`. It is used to detect that a longer key path ends at
  ///     this property or continues after it, which makes observing that path almost as cheap as observing the property alone.
  ///     Omit it for an `unowned` property.
  ///   - get: A function that reads the property, as in `{ $0.title }`. It is faster than the key path.
  ///   - set: A function that sets the property, as in `{ $0.title = $1 }`. Bindings use it; a key path takes ten times as long.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    get: ((Root) -> Value)? = nil, set: ((Root, Value) -> Void)? = nil
  ) {
    observed(name, path, chained, get, set, ValueReaders<Value>(), nil)
  }

  /// Does the same for a property that is not a collection; `inPlace` is not used.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    get: ((Root) -> Value)? = nil, inPlace: (Root, (inout Value) -> Void) -> Void,
    set: ((Root, Value) -> Void)? = nil
  ) {
    observed(name, path, chained, get, set, ValueReaders<Value>(), nil)
  }

  /// Adds a stored property that is a collection.
  ///
  /// - Parameters:
  ///   - name: The property's name, which is its key.
  ///   - key: The hash of the name, as ``KeyValueObservationHeader/key(_:)`` returns it.
  ///   - path: The key path of the property.
  ///   - chained: The key path from an optional object, as in `\Note?.?.pages`.
  ///   - get: A function that reads the property.
  ///   - inPlace: A function that passes the property `inout` to another function, as in `{ $1(&$0.pages) }`. Mutation through a key
  ///     path would copy the collection.
  ///   - set: A function that sets the property.
  @inlinable
  @inline(__always)
  public func observed<Root: AnyObject, Value: _KeyValueCollection>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath? = nil,
    get: ((Root) -> Value)? = nil, inPlace: @escaping (Root, (inout Value) -> Void) -> Void,
    set: ((Root, Value) -> Void)? = nil
  ) {
    observed(name, path, chained, get, set, ValueReaders<Value>(), inPlace)
  }

  @usableFromInline
  func observed<Root: AnyObject, Value>(
    _ name: StaticString, _ path: ReferenceWritableKeyPath<Root, Value>, _ chained: AnyKeyPath?,
    _ get: ((Root) -> Value)?, _ set: ((Root, Value) -> Void)?, _ readers: ValueReaders<Value>,
    _ inPlace: ((Root, (inout Value) -> Void) -> Void)?
  ) {
    add(name, path, chained, get, readers, inPlace, set: set, isStored: true, isDirect: true)
  }

  /// Adds a stored weak property, which also changes, without an accessor, when the referenced object is deallocated.
  public func observedWeak<Root: AnyObject, Value>(
    _ name: StaticString, _ key: UInt64, _ path: ReferenceWritableKeyPath<Root, Value>
  ) {
    add(name, path, isStored: false, isDirect: false, isWeak: true)
  }

  /// Adds a stored property whose accessors do not notify: a constant, or one with `@NotObserved`. Its changes can be announced
  /// manually.
  ///
  /// - Parameters:
  ///   - name: The property's name, which is its key.
  ///   - path: The key path of the property.
  ///   - read: A function that passes the property to another function, as of a computed property.
  @inlinable
  public func stored<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, read: @escaping (Root, (Value) -> Void) -> Void
  ) {
    silent(name, path, Self.get(read), read)
  }

  /// Adds such a property that is read through its key path.
  public func stored<Root: AnyObject, Value>(_ name: StaticString, _ path: KeyPath<Root, Value>) {
    silent(name, path, { $0[keyPath: path] }, nil)
  }

  @usableFromInline
  func silent<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, _ get: @escaping (Root) -> Value,
    _ visit: ((Root, (Value) -> Void) -> Void)?
  ) {
    add(name, path, nil, get, visit: visit, isStored: false, isDirect: true)
  }

  /// Adds a computed property. Its dependencies are found by evaluating it.
  ///
  /// - Parameters:
  ///   - name: The property's name, which is its key.
  ///   - path: The key path of the property.
  ///   - read: A function that passes the property to another function, as in `{ $1($0.title) }`. It is faster than the key path. It
  ///     does not return the value, because that would consume a value of a noncopyable type.
  @inlinable
  public func property<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, read: @escaping (Root, (Value) -> Void) -> Void
  ) {
    computed(name, path, Self.get(read), read)
  }

  /// Returns a function that returns what another one passes on. It is inlined where the type is known.
  @inlinable
  @inline(__always)
  static func get<Root: AnyObject, Value>(_ read: @escaping (Root, (Value) -> Void) -> Void) -> (Root) -> Value {
    { object in
      var value: Value?
      read(object) { value = $0 }
      return value!
    }
  }

  /// Adds a computed property that is read through its key path.
  public func property<Root: AnyObject, Value>(_ name: StaticString, _ path: KeyPath<Root, Value>) {
    computed(name, path, { $0[keyPath: path] }, nil)
  }

  @usableFromInline
  func computed<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, _ get: @escaping (Root) -> Value,
    _ visit: ((Root, (Value) -> Void) -> Void)?
  ) {
    add(name, path, nil, get, visit: visit, isStored: false, isDirect: false, isComputed: true)
  }

  /// Adds a property with `@NotObserved` and a property wrapper. It depends on what the wrapper reads, and the wrapper may announce it.
  ///
  /// - Parameters:
  ///   - name: The property's name, which is its key.
  ///   - path: The key path of the property.
  ///   - read: A function that passes the property to another function.
  public func __wrapped<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, read: @escaping (Root, (Value) -> Void) -> Void
  ) {
    property(name, path, read: read)
    properties.last?.isWrapped = true
    announces(name)
  }

  /// Ignores such a property if its type is noncopyable.
  public func __wrapped<Root: AnyObject, Value: ~Copyable>(
    _ name: StaticString, _ path: _KeyValueNoPath, read: (Root, (borrowing Value) -> Void) -> Void
  ) { owner = nil }

  /// Sets the class that the list belongs to; a subclass without the macro inherits its superclass's list.
  public func __of(_ type: any AnyObject.Type) -> KeyValueClassDescription {
    described.insert(ObjectIdentifier(type))
    return self
  }

  /// Returns whether the class has its own list.
  func isOf(_ type: any AnyObject.Type) -> Bool { described.contains(ObjectIdentifier(type)) }

  /// Says that subclasses may not see the property that is added next, and so may declare another one of the same name. In a subclass
  /// that does, this property has the key `name (Class)`.
  ///
  /// - Parameter type: The class that declares the property.
  public func __declared(in type: any AnyObject.Type) -> KeyValueClassDescription {
    owner = type
    return self
  }

  /// Renames the property of a superclass that has this name and is not the same one.
  private func redeclare(_ name: String, in newer: (any AnyObject.Type)?) {
    for property in properties where property.name == name {
      guard let owner = property.owner, owner != newer else { continue }
      // A key has no dots, which the arguments of a generic class may have. Two modules may have classes of the same name.
      var key = "\(name) (\(_typeName(owner, qualified: false).replacing(".", with: "/")))"
      while properties.contains(where: { $0.name == key }) { key += "'" }
      property.rename(key)
      redeclaredKeys[DeclaredKey(key: keyHash(name), owner: ObjectIdentifier(owner))] = property.key
    }
  }

  /// Returns the key paths of a class's properties by their names.
  public func __paths<Root: AnyObject>(of type: Root.Type) -> _KeyValuePaths<Root> { _KeyValuePaths() }

  /// Ignores a property of a noncopyable type, such as a `Mutex`, because no key path can refer to it.
  public func stored(_ name: StaticString, _ path: _KeyValueNoPath) { owner = nil }

  /// Ignores such a property.
  public func stored<Root: AnyObject, Value: ~Copyable>(
    _ name: StaticString, _ path: _KeyValueNoPath, read: (Root, (borrowing Value) -> Void) -> Void
  ) { owner = nil }

  /// Ignores a computed property of a noncopyable type.
  public func property<Root: AnyObject, Value: ~Copyable>(
    _ name: StaticString, _ path: _KeyValueNoPath, read: (Root, (borrowing Value) -> Void) -> Void
  ) { owner = nil }

  private func add<Root: AnyObject, Value>(
    _ name: StaticString, _ path: KeyPath<Root, Value>, _ chained: AnyKeyPath? = nil, _ get: ((Root) -> Value)? = nil,
    _ readers: ValueReaders<Value> = ValueReaders(), _ inPlace: InPlace<Root, Value>? = nil,
    set: ((Root, Value) -> Void)? = nil, visit: ((Root, (Value) -> Void) -> Void)? = nil, isStored: Bool,
    isDirect: Bool, isComputed: Bool = false,
    isWeak: Bool = false
  ) {
    let name = name.description
    redeclare(name, in: owner)
    let property = TypedProperty<Root, Value>(
      name: name, key: keyHash(name), path: path, chained: chained, get: get, set: set, visit: visit,
      readers: readers, inPlace: inPlace, isStored: isStored, isDirect: isDirect, isComputed: isComputed,
      isWeak: isWeak)
    property.owner = owner
    owner = nil
    properties.append(property)
  }

  /// Declares the key paths that affect a key: the answer of a class's member `keyPathsForValuesAffecting<Key>`.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter capitalized: `FullName` for `fullName` and for `FullName`.
  ///   - keyPaths: The key paths, relative to the object.
  public func affecting(_ capitalizedKey: StaticString, _ keyPaths: @autoclosure @escaping () -> Set<String>) {
    affecting[capitalizedKey.description, default: []].append(keyPaths)
  }

  /// Declares whether setting a key notifies: the answer of a class's member `automaticallyNotifiesObserversOf<Key>`.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter capitalized.
  ///   - answer: Whether setting the key notifies.
  public func automaticallyNotifies(_ capitalizedKey: StaticString, _ answer: @autoclosure @escaping () -> Bool) {
    notifying[capitalizedKey.description, default: []].append(answer)
  }

  /// Declares the key paths of a member that overrides a superclass's and does not call it. The answers of superclasses come from this
  /// member too, but what they name would be taken for properties of the superclasses. They stay as empty ones: their number says who
  /// declares.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter capitalized.
  ///   - keyPaths: The result of the member.
  public func __affecting(
    _ capitalizedKey: StaticString, replacing keyPaths: @autoclosure @escaping () -> Set<String>
  ) {
    let key = capitalizedKey.description
    affecting[key] = affecting[key, default: []].map { _ in { [] } } + [keyPaths]
  }

  /// Declares whether setting a key notifies, by a member that overrides a superclass's and does not call it: what superclasses have
  /// answered does not count.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter capitalized.
  ///   - answer: The result of the member.
  public func __automaticallyNotifies(
    _ capitalizedKey: StaticString, replacing answer: @autoclosure @escaping () -> Bool
  ) {
    let key = capitalizedKey.description
    notifying[key] = notifying[key, default: []].map { _ in { true } } + [answer]
  }

  /// Declares that the class overrides `value(forKey:)`: observers of string key paths then read its keys with that method.
  public func answersKeys() { answersKeysItself = true }

  /// Declares the validation method of a key: the class's method `validate<Key>(_: inout Any?) throws`.
  ///
  /// - Parameters:
  ///   - capitalizedKey: The key with its first letter capitalized.
  ///   - validate: A function that calls the method of an object.
  public func validating<Root: AnyObject>(
    _ capitalizedKey: StaticString, _ validate: @escaping (Root, inout Any?) throws -> Void
  ) {
    validators[capitalizedKey.description] = { try validate(unsafeDowncast($0, to: Root.self), &$1) }
  }

  /// Declares that the class overrides `value(forUndefinedKey:)`: any key may then have a value.
  public func answersUndefinedKeys() { answersUndefinedKeysItself = true }

  /// Declares that the class announces changes of a key manually: observing it is then not KVO0011, whatever it reads.
  ///
  /// - Parameter key: The key, or `nil` for any key.
  public func announces(_ key: StaticString?) {
    if let key { announcedKeys.insert(key.description) } else { announcesAnyKey = true }
  }

  func isAnnounced(_ key: String) -> Bool { announcesAnyKey || announcedKeys.contains(key) }

  /// Returns the answers of the class's members about what affects a key; those of superclasses' members are first.
  func answers(affecting key: String) -> [() -> Set<String>] { affecting[capitalized(key), default: []] }

  /// Does the same for whether setting a key notifies.
  func answers(notifyingOf key: String) -> [() -> Bool] { notifying[capitalized(key), default: []] }

  /// Returns the key paths that the class's members declare for a key.
  func paths(affecting key: String) -> Set<String> {
    answers(affecting: key).reduce(into: []) { $0.formUnion($1()) }
  }

  func automaticallyNotifies(ofKey key: String) -> Bool { answers(notifyingOf: key).allSatisfy { $0() } }

  private static let all = Guarded<[ObjectIdentifier: KeyValueClassDescription]>([:])

  /// Returns the description of a class, which is created once.
  static func of(_ type: any KeyValueObservable.Type) -> KeyValueClassDescription {
    let identifier = ObjectIdentifier(type)
    if let known = all.withLock({ $0[identifier] }) { return known }
    let made = KeyValueClassDescription()
    type.__describeKeyValueProperties(made)  // outside the lock, because it is the program's code
    return all.withLock { all in
      if let known = all[identifier] { return known }
      all[identifier] = made
      return made
    }
  }

  /// Removes the isolation of a function that only creates key paths.
  ///
  /// Key paths to the properties of a main-actor class can be written only in code of that actor. Creating a key path accesses no
  /// object, so that it is safe on any thread.
  public static func __nonisolated(
    _ body: @escaping @isolated(any) (KeyValueClassDescription) -> Void
  ) -> (KeyValueClassDescription) -> Void {
    unsafeBitCast(body, to: ((KeyValueClassDescription) -> Void).self)
  }
}
