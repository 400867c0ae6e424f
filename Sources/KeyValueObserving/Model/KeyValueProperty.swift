// A property of an observable class, accessed by the runtime and by string keys.

import CKVO
import Foundation

/// A property with a type-erased value. It is never deallocated, like its class.
@usableFromInline
class KeyValueProperty: @unchecked Sendable {
  /// The key: the name, unless a subclass declares another property of the same name.
  private(set) var name: String
  private(set) var key: UInt64
  /// The name in the program, which is the key in the class that declares the property.
  let declaredName: String
  /// The class that declares it, if subclasses may not see it.
  var owner: (any AnyObject.Type)?
  let path: AnyKeyPath
  /// The key path from an optional object, which a longer path contains after a `?`; `nil` if not known.
  let chained: AnyKeyPath?
  /// The name as a C string, which is valid during the lifetime of the property.
  private(set) var cName: UnsafePointer<CChar>
  /// Whether its accessors notify of every change: a stored property that the macro observes and that is not weak.
  let isStored: Bool
  /// Whether it is observed by its own key: a stored property, whether its accessors notify or its changes are announced manually.
  let isDirect: Bool
  /// Whether it is neither stored nor weak: it changes when what its getter reads changes, unless dependencies are declared.
  let isComputed: Bool
  /// Whether it is `@NotObserved` and has a property wrapper.
  var isWrapped = false

  /// Whether the runtime treats it as computed although its accessors notify: a weak property.
  let isWeak: Bool
  /// Whether it is stored and read-only.
  let isConstant: Bool

  /// Whether its type is a collection.
  var isCollection: Bool { Swift.type(of: path).valueType is any _KeyValueCollection.Type }

  /// Whether the property retains the object that is its value.
  var isOwning: Bool { isStored && chained != nil }

  init(
    name: String, key: UInt64, path: AnyKeyPath, chained: AnyKeyPath?, isStored: Bool, isDirect: Bool, isComputed: Bool,
    isWeak: Bool, isConstant: Bool
  ) {
    self.name = name
    declaredName = name
    self.key = key
    self.path = path
    self.chained = chained
    cName = TemporaryStrings().copy(name)
    self.isStored = isStored
    self.isDirect = isDirect
    self.isComputed = isComputed
    self.isWeak = isWeak
    self.isConstant = isConstant
  }

  /// Gives the property another key, while its class is being described.
  func rename(_ name: String) {
    cName.deallocate()
    self.name = name
    key = keyHash(name)
    cName = TemporaryStrings().copy(name)
  }

  /// Returns the property that a property of the object's class or a superclass is in the object's class.
  func renamed(in object: any KeyValueObservable) -> KeyValueProperty {
    owner == nil ? self : KeyValueClass.of(object).renamed(self)
  }

  /// Called for a property that another one in the list replaces.
  deinit { cName.deallocate() }

  /// The type encoding of the property's values for C.
  var encoding: String { abstract() }
  /// Returns the present value; the instance must be of the property's class.
  func read(_ instance: AnyObject) -> Any { abstract() }
  /// Whether the value is an object of an observable class or an optional of one, so that `object(of:)` returns it.
  var holdsObject: Bool { abstract() }
  /// Returns the object that is the present value.
  func object(of instance: AnyObject) -> AnyObject? { abstract() }
  /// Returns the present value without its optionals.
  func readUnwrapped(_ instance: AnyObject) -> Any? { abstract() }
  var isWritable: Bool { abstract() }
  /// Converts a value now, and returns a function that sets it through the setter of an instance of the property's class.
  func setter(of value: Any?) throws(ConversionFailure) -> (AnyObject) -> Void { abstract() }
  /// Returns the value in storage that `copy` or an accessor has created.
  func value(at storage: UnsafeRawPointer) -> Any { abstract() }
  /// Returns a copy of the present value, or of its selected elements, in new storage; `nil` if it has no elements.
  func copy(_ instance: UnsafeMutableRawPointer, _ selection: UnsafePointer<kvo_selection>?) -> UnsafeMutableRawPointer?
  {
    abstract()
  }
  func release(_ storage: UnsafeMutableRawPointer) { abstract() }
  /// Returns whether the values in two storages are equal; `false` if they cannot be compared.
  func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool { abstract() }
  func assign(_ instance: UnsafeMutableRawPointer, _ value: UnsafePointer<kvo_value>) -> kvo_status { abstract() }
  /// Returns a `PropertyAccess` of the property's type.
  func access(to instance: AnyObject) -> Any { abstract() }
  /// Returns functions that read and set the property of an instance as its own type, faster than a key path; `nil` if there are none.
  func accessors<Object: AnyObject, Known>() -> BoundProperty<Object, Known>? { abstract() }
  /// Returns a function that reads the property's value from storage as its own type or as its optional; `nil` for any other type.
  func reader<Result>(as type: Result.Type) -> ((UnsafeRawPointer) -> Result)? { abstract() }

  private func abstract() -> Never { fatalError("\(Self.self) has to implement this") }

  /// Returns the Swift property that C has as `property`; `nil` for one of another language's class.
  static func of(_ property: OpaquePointer) -> KeyValueProperty? {
    kvo_binding_property_user(property, operations).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// The operations with which C handles values of Swift properties; `user` is the property.
  nonisolated(unsafe) static let operations: UnsafePointer<kvo_value_ops> = {
    func property(_ user: UnsafeMutableRawPointer?) -> KeyValueProperty {
      Unmanaged.fromOpaque(user!).takeUnretainedValue()
    }
    let operations = UnsafeMutablePointer<kvo_value_ops>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_value_ops(
        copy: { property($1).copy($0, $2) },
        release: { property($1).release($0) },
        view: { storage, user, reader, argument in
          withCValue(property(user).value(at: storage)) { reader($0, argument) }
        },
        assign: { property($1).assign($0, $2) },
        same: { property($2).areEqual($0, $1) }))
    return UnsafePointer(operations)
  }()
}

/// A property with a static value type.
final class TypedProperty<Root: AnyObject, Value>: KeyValueProperty, @unchecked Sendable {
  private var keyPath: KeyPath<Root, Value> { unsafeDowncast(path, to: KeyPath<Root, Value>.self) }

  /// Reads the property.
  private let value: (Root) -> Value
  /// Passes the property's value to a function; faster than `value` where the value is only copied.
  private let visit: ((Root, (Value) -> Void) -> Void)?
  private let readers: ValueReaders<Value>
  /// Sets the property; faster than the key path.
  private let assign: ((Root, Value) -> Void)?
  /// Changes a collection in place; a key path would copy it. `nil` for other types.
  private let inPlace: InPlace<Root, Value>?

  init(
    name: String, key: UInt64, path: KeyPath<Root, Value>, chained: AnyKeyPath?, get: ((Root) -> Value)?,
    set: ((Root, Value) -> Void)?,
    visit: ((Root, (Value) -> Void) -> Void)?, readers: ValueReaders<Value>, inPlace: InPlace<Root, Value>?,
    isStored: Bool, isDirect: Bool, isComputed: Bool,
    isWeak: Bool
  ) {
    assign = set
    value = get ?? { $0[keyPath: path] }
    self.visit = visit
    self.readers = readers
    self.inPlace = inPlace
    super.init(
      name: name, key: key, path: path, chained: chained, isStored: isStored, isDirect: isDirect,
      isComputed: isComputed,
      isWeak: isWeak, isConstant: isDirect && !(path is ReferenceWritableKeyPath<Root, Value>))
  }

  override func reader<Result>(as type: Result.Type) -> ((UnsafeRawPointer) -> Result)? {
    readers.same as? (UnsafeRawPointer) -> Result ?? readers.optional as? (UnsafeRawPointer) -> Result
  }

  override func accessors<Object: AnyObject, Known>() -> BoundProperty<Object, Known>? {
    guard let assign else { return nil }
    return BoundProperty(get: value, set: assign).unchecked(of: Object.self) as? BoundProperty<Object, Known>
  }

  override func access(to instance: AnyObject) -> Any {
    let root = unsafeDowncast(instance, to: Root.self)
    let value = value
    func read() -> Value { value(root) }
    if let inPlace { return PropertyAccess<Value>(read: read, modify: { inPlace(root, $0) }) }
    guard let writable = path as? ReferenceWritableKeyPath<Root, Value> else {
      return PropertyAccess<Value>(read: read, modify: nil)
    }
    return PropertyAccess<Value>(read: read, modify: { $0(&root[keyPath: writable]) })
  }

  override var encoding: String { cEncoding(of: Value.self) }
  override func read(_ instance: AnyObject) -> Any { value(unsafeDowncast(instance, to: Root.self)) }
  override func readUnwrapped(_ instance: AnyObject) -> Any? {
    let value: Any = value(unsafeDowncast(instance, to: Root.self))
    return unwrapped(value)
  }
  override var holdsObject: Bool {
    var type: Any.Type = Value.self
    if let optional = type as? any OptionalProtocol.Type { type = optional.wrappedType }
    return type is any KeyValueObservable.Type
  }
  override func object(of instance: AnyObject) -> AnyObject? {
    // An object and an optional object are both one reference.
    withUnsafeBytes(of: value(unsafeDowncast(instance, to: Root.self))) { $0.load(as: AnyObject?.self) }
  }
  override var isWritable: Bool { path is ReferenceWritableKeyPath<Root, Value> }

  override func setter(of value: Any?) throws(ConversionFailure) -> (AnyObject) -> Void {
    let value = try converted(value, to: Value.self)
    let writable = unsafeDowncast(path, to: ReferenceWritableKeyPath<Root, Value>.self)
    return { unsafeDowncast($0, to: Root.self)[keyPath: writable] = value }
  }

  override func value(at storage: UnsafeRawPointer) -> Any { storage.assumingMemoryBound(to: Value.self).pointee }

  override func copy(
    _ instance: UnsafeMutableRawPointer, _ selection: UnsafePointer<kvo_selection>?
  ) -> UnsafeMutableRawPointer? {
    let root = Unmanaged<Root>.fromOpaque(instance).takeUnretainedValue()
    if let selection { return copyElements(of: root, selection) }
    guard let visit else { return .__copy(value(root), as: Value.self) }
    let storage = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    visit(root) { storage.initialize(to: $0) }
    return UnsafeMutableRawPointer(storage)
  }

  /// A function of its own, because the lookup of the metadata of `Value?` takes longer than most getters.
  @inline(never)
  private func copyElements(
    of root: Root, _ selection: UnsafePointer<kvo_selection>
  ) -> UnsafeMutableRawPointer? {
    let indexes = UnsafeBufferPointer(start: selection.pointee.indexes, count: selection.pointee.count)
    return elements(of: value(root), at: indexes).map { .__copy($0, as: Value.self) }
  }

  override func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
    isEqual(first.assumingMemoryBound(to: Value.self).pointee, second.assumingMemoryBound(to: Value.self).pointee)
  }

  override func release(_ storage: UnsafeMutableRawPointer) { storage.__release(as: Value.self) }

  override func assign(_ instance: UnsafeMutableRawPointer, _ value: UnsafePointer<kvo_value>) -> kvo_status {
    guard let writable = keyPath as? ReferenceWritableKeyPath<Root, Value> else { return KVO_ERROR_READ_ONLY }
    guard let value = swiftValue(of: value.pointee, as: Value.self) else { return KVO_ERROR_TYPE_MISMATCH }
    Unmanaged<Root>.fromOpaque(instance).takeUnretainedValue()[keyPath: writable] = value
    return KVO_OK
  }
}

/// A function that changes a property of an object in place.
@usableFromInline typealias InPlace<Root, Value> = (Root, (inout Value) -> Void) -> Void

/// Functions that read values from storage. They are created where the type is known, so that they are specialised.
@usableFromInline
struct ValueReaders<Value> {
  let same: (UnsafeRawPointer) -> Value
  let optional: (UnsafeRawPointer) -> Value?

  @usableFromInline
  init(same: @escaping (UnsafeRawPointer) -> Value, optional: @escaping (UnsafeRawPointer) -> Value?) {
    self.same = same
    self.optional = optional
  }

  @inlinable
  init() {
    self.init(
      same: { $0.assumingMemoryBound(to: Value.self).pointee },
      optional: { $0.assumingMemoryBound(to: Value.self).pointee })
  }
}

/// Returns the elements of a list, or of an optional list, as a value of the same type; `nil` for anything else.
private func elements<Value>(of value: Value, at indexes: UnsafeBufferPointer<Int>) -> Value? {
  func picked<List: ListValue>(_ list: List) -> Any {
    let positions = 0..<(list.itemCount ?? 0)
    // An index out of range has no element: the program has announced a wrong index, and reading must not trap.
    return List.holding(indexes.compactMap { positions.contains($0) ? list.item(at: $0) : nil })
  }
  guard let list = unwrapped(value).flatMap({ list($0) }) else { return nil }
  return picked(list) as? Value
}

/// Returns a value for a change dictionary: without optionals, `NSNull` for `nil`.
func dictionaryValue(_ value: Any) -> Any { unwrapped(value) ?? NSNull() }
