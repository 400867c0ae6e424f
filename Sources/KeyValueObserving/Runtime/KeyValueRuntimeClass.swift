// Classes that a program defines at run time, with getters and setters of the C ABI.

internal import CKVO

/// A function of any type; cast a getter or setter to it with `unsafeBitCast`.
public typealias KeyValueFunction = @convention(c) () -> Void

/// What was wrong with a class or a value that a program gave at run time.
public struct KeyValueRuntimeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why, with the numbers of `kvo_status`.
  public enum Reason: Int32, Sendable {
    /// An argument is not allowed: an empty name, a size too small, an unknown flag.
    case invalidArgument = -1
    /// There is no memory.
    case outOfMemory = -2
    /// A class of this name is already registered.
    case duplicateClass = -3
    /// The class or a superclass already has a property of this key.
    case duplicateKey = -4
    /// The type encoding is malformed.
    case badTypeEncoding = -5
    /// A setter of this signature cannot be intercepted.
    case unsupportedSetter = -6
    /// There is no memory for executable trampolines.
    case noInterception = -7
    /// The class has no such key.
    case undefinedKey = -8
    /// A key path has an empty component.
    case malformedKeyPath = -9
    /// The property has no setter.
    case readOnly = -11
    /// The property has no getter.
    case noGetter = -12
    /// The value is not of the property's type.
    case typeMismatch = -13
    /// The object is being destroyed.
    case dyingObject = -14
    /// A key path leads through a value that is not an observable object.
    case notAnObject = -15
  }

  /// Why it failed.
  public let reason: Reason
  /// What was attempted.
  public let operation: String

  init(_ status: kvo_status, _ operation: String) {
    reason = Reason(rawValue: status.rawValue) ?? .invalidArgument
    self.operation = operation
  }

  /// What was attempted, and why it failed.
  public var description: String { "\(operation): \(String(cString: kvo_status_string(kvo_status(reason.rawValue))))" }
}

/// A class defined at run time: a name, and properties with type encodings and C functions.
///
/// ```swift
/// struct Point { var header = kvo_object(); var x = 0.0 }
/// let getX: @convention(c) (UnsafeRawPointer) -> Double = { $0.assumingMemoryBound(to: Point.self).pointee.x }
/// let setX: @convention(c) (UnsafeMutableRawPointer, Double) -> Void = {
///   $0.assumingMemoryBound(to: Point.self).pointee.x = $1
/// }
/// let pointClass = try KeyValueRuntimeClass(
///   name: "Point", instanceSize: MemoryLayout<Point>.size,
///   properties: [
///     .init(
///       name: "x", type: "d", getter: unsafeBitCast(getX, to: KeyValueFunction.self),
///       setter: unsafeBitCast(setX, to: KeyValueFunction.self))
///   ])
/// let point = try KeyValueRuntimeObject(pointClass)
/// ```
/// A class lives, as in Objective-C, until the process ends. It may be used from any thread.
public struct KeyValueRuntimeClass: @unchecked Sendable {
  /// A property of such a class.
  public struct Property: Sendable {
    /// The key.
    public var name: String
    /// The type encoding, such as `"d"` or `"{rect=dddd}"`; `kvo.h` lists them.
    public var type: String
    /// `T (*)(const void *object)`, or `nil`: then changes carry no old value.
    public var getter: KeyValueFunction?
    /// `void (*)(void *object, T)`, or `nil` for a property that cannot be set.
    public var setter: KeyValueFunction?
    /// Key paths whose changes change this value.
    public var affectedBy: [String]
    /// Whether the setter leaves notifying to `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    public var isManual: Bool

    /// Describes a property; nothing is checked before the class is registered.
    public init(
      name: String, type: String, getter: KeyValueFunction? = nil, setter: KeyValueFunction? = nil,
      affectedBy: [String] = [], isManual: Bool = false
    ) {
      self.name = name
      self.type = type
      self.getter = getter
      self.setter = setter
      self.affectedBy = affectedBy
      self.isManual = isManual
    }
  }

  let pointer: OpaquePointer

  /// The name.
  public var name: String { String(cString: kvo_class_name(pointer)) }

  /// Registers a class.
  ///
  /// - Parameters:
  ///   - name: Unique in the process.
  ///   - superclass: A class whose properties are inherited.
  ///   - instanceSize: Bytes of an instance, the header included, which comes first.
  ///   - properties: The properties to add.
  /// - Throws: ``KeyValueRuntimeError``, for instance when a type encoding is malformed or a setter of that signature cannot be
  ///   intercepted; nothing is registered then.
  public init(
    name: String, superclass: KeyValueRuntimeClass? = nil, instanceSize: Int, properties: [Property]
  ) throws {
    let strings = TemporaryStrings()
    defer { strings.free() }
    let described = properties.map { property in
      kvo_property_spec(
        name: strings.copy(property.name), type: strings.copy(property.type), getter: property.getter,
        setter: property.setter, affected_by: property.affectedBy.isEmpty ? nil : strings.copy(property.affectedBy),
        flags: property.isManual ? UInt32(KVO_PROPERTY_MANUAL) : 0)
    }
    var made: OpaquePointer?
    let status = described.withUnsafeBufferPointer { described in
      var spec = kvo_class_spec(
        struct_size: MemoryLayout<kvo_class_spec>.size, name: strings.copy(name), superclass: superclass?.pointer,
        instance_size: max(instanceSize, 0), properties: described.baseAddress, property_count: described.count,
        finalize: nil)
      return kvo_class_register(&spec, &made)
    }
    guard status == KVO_OK, let made else { throw KeyValueRuntimeError(status, "registering class \"\(name)\"") }
    pointer = made
  }

  /// Returns a class that was registered before, by this program's Swift or C code, or `nil`.
  public init?(named name: String) {
    guard let found = kvo_class_find(name) else { return nil }
    pointer = found
  }
}
