// Apple's value transformers, which Foundation on Linux does not have.

import CKVO
public import Foundation

/// Converts values, possibly in both directions: for bindings, and by name.
///
/// ```swift
/// final class YearsTransformer: ValueTransformer {
///   override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { "\($0) years" } }
///   override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? String).flatMap { Int($0.prefix { $0 != " " }) } }
/// }
/// ValueTransformer.setValueTransformer(YearsTransformer(), forName: NSValueTransformerName("Years"))
/// ```
/// As on Apple's platforms, a subclass overrides ``transformedValue(_:)`` and says whether it can convert back. A binding calls it on the
/// thread that makes the change; one that is used on several threads has to be safe for that.
open class ValueTransformer: NSObject {
  /// Creates a transformer.
  public override init() { super.init() }

  /// Returns the class of what ``transformedValue(_:)`` returns: `NSObject` unless a subclass overrides it. This library does not call it.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Returns whether ``reverseTransformedValue(_:)`` can be called: `true` unless a subclass overrides it.
  ///
  /// A binding through a transformer that does not allow it sets its property only, not the observed object.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Converts a value. A subclass overrides this; the method of this class returns the value itself.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// Converts a value back.
  ///
  /// The method of this class calls ``transformedValue(_:)``, for transformers that are their own inverse. If the class does not allow it,
  /// it is fault KVO0008, where Apple raises an exception, and the result is `nil`.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    guard Self.allowsReverseTransformation() else {
      raiseFault(
        KVO_FAULT_INVALID_ARGUMENT,
        "\(NamedValue(self).name) cannot convert back: its class does not allow reverse transformation",
        help: "ask allowsReverseTransformation() before")
      return nil
    }
    return transformedValue(value)
  }
}

extension ValueTransformer {
  /// The transformers by name. They are used on the thread that asks for them.
  private static let registered = Guarded<[NSValueTransformerName: ValueTransformer]>([
    .negateBooleanTransformerName: NegateBoolean(), .isNilTransformerName: IsNil(),
    .isNotNilTransformerName: IsNotNil(),
  ])

  /// Registers a transformer for a name, in place of one that is registered; `nil` removes it. Any thread.
  public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    // The old one is released when the lock is free: a deinitializer may call this.
    nonisolated(unsafe) var old: ValueTransformer?
    registered.withLock { registered in
      old = registered[name]
      registered[name] = transformer
    }
    withExtendedLifetime(old) {}
  }

  /// Returns the names of all registered transformers, sorted. Any thread.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  fileprivate static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
    registered.withLock { $0[name] }
  }
}

/// What lets an initializer return an object that exists.
public protocol _ValueTransformerByName {}

extension _ValueTransformerByName where Self: ValueTransformer {
  /// Finds the transformer that is registered for a name; `nil` if there is none. Any thread.
  ///
  /// Apple's method also looks for a class of that name; this one does not.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.named(name) as? Self else { return nil }
    self = found
  }
}

extension ValueTransformer: _ValueTransformerByName {}
