// Classes that a program defines at run time, with getters and setters that are C functions.

import CKVO

/// A C function of any type. Cast a getter or setter to it with `unsafeBitCast`.
public typealias KeyValueFunction = @convention(c) () -> Void

/// An error in a class or value that a program provided at run time.
public struct KeyValueRuntimeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason of a failure; the raw values are those of `kvo_status`.
  public enum Reason: Int32, Sendable {
    /// An argument is invalid: an empty name, a size that is too small, an unknown flag.
    case invalidArgument = -1
    /// Memory could not be allocated.
    case outOfMemory = -2
    /// A class of this name is already registered.
    case duplicateClass = -3
    /// The class or a superclass already has a property with this key.
    case duplicateKey = -4
    /// The type encoding is malformed.
    case badTypeEncoding = -5
    /// A setter with this signature cannot be intercepted.
    case unsupportedSetter = -6
    /// Executable memory for setter interception could not be allocated.
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
    /// A key path goes through a value that is not an observable object.
    case notAnObject = -15
  }

  /// The reason of the failure.
  public let reason: Reason
  /// The operation that failed.
  public let operation: String

  init(_ status: kvo_status, _ operation: String) {
    reason = Reason(rawValue: status.rawValue) ?? .invalidArgument
    self.operation = operation
  }

  /// The operation that failed, and the reason.
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
/// As in Objective-C, a class is never deallocated. It may be used on any thread.
public struct KeyValueRuntimeClass: @unchecked Sendable {
  /// A property of a class defined at run time.
  public struct Property: Sendable {
    /// The key.
    public var name: String
    /// The type encoding, such as `"d"` or `"{rect=dddd}"`; `kvo.h` lists them.
    public var type: String
    /// A function `T (*)(const void *object)`. If it is `nil`, changes have no old value.
    public var getter: KeyValueFunction?
    /// A function `void (*)(void *object, T)`, or `nil` for a read-only property.
    public var setter: KeyValueFunction?
    /// The key paths whose changes affect this property's value.
    public var affectedBy: [String]
    /// Whether changes are announced with `willChangeValue(forKey:)` and `didChangeValue(forKey:)` instead of by the setter.
    public var isManual: Bool

    /// Creates the description of a property. It is checked when the class is registered.
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

  /// The name of the class.
  public var name: String { String(cString: kvo_class_name(pointer)) }

  /// Registers a class with the runtime.
  ///
  /// - Parameters:
  ///   - name: The name, which must be unique in the process.
  ///   - superclass: The class whose properties are inherited, if any.
  ///   - instanceSize: The size of an instance in bytes, including the header, which comes first.
  ///   - properties: The properties to add.
  /// - Throws: ``KeyValueRuntimeError``, for example if a type encoding is malformed or a setter with that signature cannot be
  ///   intercepted. Nothing is registered then.
  public init(
    name: String, superclass: KeyValueRuntimeClass? = nil, instanceSize: Int, properties: [Property]
  ) throws {
    let strings = TemporaryStrings()
    defer { strings.free() }
    let described = properties.map { property in
      kvo_property_spec(
        name: strings.copy(property.name), type: strings.copy(property.type), getter: property.getter,
        setter: property.setter, affected_by: property.affectedBy.isEmpty ? nil : strings.copy(property.affectedBy),
        flags: property.isManual ? UInt32(KVO_PROPERTY_MANUAL) : 0, user: nil, offset: 0, setter_type: nil)
    }
    var made: OpaquePointer?
    let status = described.withUnsafeBufferPointer { described in
      var spec = kvo_class_spec(
        struct_size: MemoryLayout<kvo_class_spec>.size, name: strings.copy(name), superclass: superclass?.pointer,
        instance_size: max(instanceSize, 0), properties: described.baseAddress, property_count: described.count,
        finalize: nil, collections: nil, collection_count: 0, collection_size: 0,
        property_size: MemoryLayout<kvo_property_spec>.stride, coding: nil)
      return kvo_class_register(&spec, &made)
    }
    guard status == KVO_OK, let made else { throw KeyValueRuntimeError(status, "registering class \"\(name)\"") }
    pointer = made
  }

  /// Returns the registered class with a name, whether it was registered from Swift or from C, or `nil` if there is none.
  public init?(named name: String) {
    guard let found = kvo_class_find(name) else { return nil }
    pointer = found
  }
}
