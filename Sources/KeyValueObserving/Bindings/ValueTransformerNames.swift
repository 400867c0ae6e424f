// The names of value transformers, and the transformers that are registered from the beginning.

import Foundation

/// The name of a registered ``ValueTransformer``.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Creates a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

// Apple's transformers from and to archives are left out: most Swift values cannot be archived with NSCoder on Linux.
extension NSValueTransformerName {
  /// `NSNegateBoolean`: `true` becomes `false`, and back. A number or a string is taken as a boolean; `nil` becomes `true`.
  public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
  /// `NSIsNil`: whether the value is `nil`. Not reversible.
  public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
  /// `NSIsNotNil`: whether the value is not `nil`. Not reversible.
  public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
}

final class NegateBoolean: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }

  override func transformedValue(_ value: Any?) -> Any? {
    switch value.flatMap(unwrapped) {
    case nil, is NSNull: true
    case let value as Bool: !value
    case let value as NSNumber: !value.boolValue
    case let value as String: !(value as NSString).boolValue
    default: nil
    }
  }
}

final class IsNil: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { isNothing(value) }
}

final class IsNotNil: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { !isNothing(value) }
}

private func isNothing(_ value: Any?) -> Bool { value.flatMap(unwrapped).map { $0 is NSNull } ?? true }
