// The options of Cocoa's bindings.

public import Foundation

/// An option of a binding.
///
/// ```swift
/// field.bind(.value, to: person, withKeyPath: "name", options: [.nullPlaceholder: "No name", .validatesImmediately: true])
/// ```
/// The constants have AppKit's values. Options that need a view, such as `NSDisplayPattern` or `NSConditionallySetsEnabled`, are left out;
/// a binding with one of them is fault KVO0008. So is `NSContinuouslyUpdatesValue`: there is no editing that ends, each set is passed on.
public struct NSBindingOption: RawRepresentable, Hashable, Sendable {
  /// AppKit's string.
  public let rawValue: String

  /// Creates an option from AppKit's string.
  public init(rawValue: String) { self.rawValue = rawValue }
}

extension NSBindingOption {
  /// What the property is set to while the observed value is `nil`.
  public static let nullPlaceholder = NSBindingOption(rawValue: "NSNullPlaceholder")
  /// What the property is set to while an object on the key path is `nil`, or the value is ``NSBindingSelectionMarker/noSelection``.
  public static let noSelectionPlaceholder = NSBindingOption(rawValue: "NSNoSelectionPlaceholder")
  /// What the property is set to while an object on the path does not have the key, or the value is
  /// ``NSBindingSelectionMarker/notApplicable``.
  public static let notApplicablePlaceholder = NSBindingOption(rawValue: "NSNotApplicablePlaceholder")
  /// What the property is set to while the value is ``NSBindingSelectionMarker/multipleValues``.
  public static let multipleValuesPlaceholder = NSBindingOption(rawValue: "NSMultipleValuesPlaceholder")
  /// The `ValueTransformer` between the observed value and the property.
  public static let valueTransformer = NSBindingOption(rawValue: "NSValueTransformer")
  /// The name of a registered ``ValueTransformer``, as an ``NSValueTransformerName`` or a `String`, where
  /// ``valueTransformer`` is not given.
  public static let valueTransformerName = NSBindingOption(rawValue: "NSValueTransformerName")
  /// Whether a value is validated before it is set at the observed object: a `Bool`. The default is `false`.
  public static let validatesImmediately = NSBindingOption(rawValue: "NSValidatesImmediately")
  /// Whether a key that an object does not have is fault KVO0009: a `Bool`. By default it is, unless ``notApplicablePlaceholder`` is given.
  public static let raisesForNotApplicableKeys = NSBindingOption(rawValue: "NSRaisesForNotApplicableKeys")
}

/// A key of what ``KeyValueObject/infoForBinding(_:)`` returns.
public struct NSBindingInfoKey: RawRepresentable, Hashable, Sendable {
  /// AppKit's string.
  public let rawValue: String

  /// Creates a key from AppKit's string.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The observed object.
  public static let observedObject = NSBindingInfoKey(rawValue: "NSObservedObject")
  /// The key path, as a `String`.
  public static let observedKeyPath = NSBindingInfoKey(rawValue: "NSObservedKeyPath")
  /// The options that the binding was made with.
  public static let options = NSBindingInfoKey(rawValue: "NSOptions")
}

/// A value that stands for the lack of one: a controller of the program may return it from `value(forKey:)`.
///
/// A binding that receives it sets its property to the placeholder for it.
public final class NSBindingSelectionMarker: NSObject, Sendable {
  /// Nothing is selected.
  public static let noSelection = NSBindingSelectionMarker("no selection")
  /// The selected objects do not have the key.
  public static let notApplicable = NSBindingSelectionMarker("not applicable")
  /// The selected objects have different values.
  public static let multipleValues = NSBindingSelectionMarker("multiple values")

  private let text: String

  private init(_ text: String) { self.text = text }

  override public var description: String { "<\(text)>" }

  /// The option with the placeholder for this marker.
  var placeholder: NSBindingOption {
    self === Self.noSelection
      ? .noSelectionPlaceholder : self === Self.notApplicable ? .notApplicablePlaceholder : .multipleValuesPlaceholder
  }
}

/// The options of one binding, checked.
struct CocoaOptions {
  let transformer: ValueTransformer?
  let validates: Bool
  let raises: Bool
  private let given: [NSBindingOption: Any]

  private static let known: Set<NSBindingOption> = [
    .nullPlaceholder, .noSelectionPlaceholder, .notApplicablePlaceholder, .multipleValuesPlaceholder, .valueTransformer,
    .valueTransformerName, .validatesImmediately, .raisesForNotApplicableKeys,
  ]

  /// The reason why a binding is refused.
  struct Refusal: Error { let text: String }

  init(_ given: [NSBindingOption: Any]) throws(Refusal) {
    for option in given.keys.map(\.rawValue).sorted() where !Self.known.contains(NSBindingOption(rawValue: option)) {
      throw Refusal(text: "the option \(option), which has no effect without AppKit's views")
    }
    self.given = given
    transformer = try Self.transformer(given)
    validates = try Self.flag(.validatesImmediately, given) ?? false
    raises = try Self.flag(.raisesForNotApplicableKeys, given) ?? (given[.notApplicablePlaceholder] == nil)
  }

  private static func transformer(_ given: [NSBindingOption: Any]) throws(Refusal) -> ValueTransformer? {
    if let option = given[.valueTransformer] {
      guard let transformer = option as? ValueTransformer else {
        throw Refusal(text: "a \(type(of: option)) as the value transformer")
      }
      return transformer
    }
    guard let option = given[.valueTransformerName] else { return nil }
    let name = option as? NSValueTransformerName ?? (option as? String).map { NSValueTransformerName($0) }
    guard let name, let transformer = ValueTransformer(forName: name) else {
      throw Refusal(
        text: "the value transformer named \"\(name?.rawValue ?? "\(option)")\": no such transformer is registered")
    }
    return transformer
  }

  private static func flag(_ option: NSBindingOption, _ given: [NSBindingOption: Any]) throws(Refusal) -> Bool? {
    guard let value = given[option] else { return nil }
    guard let flag = value as? Bool else {
      throw Refusal(text: "a \(type(of: value)) for the option \(option.rawValue), which is a Bool")
    }
    return flag
  }

  var isReversible: Bool { transformer.map { type(of: $0).allowsReverseTransformation() } ?? true }

  /// Returns what the property is set to for an observed value.
  func shown(_ value: BoundValue) -> BoundValue {
    switch value {
    case .value(let observed):
      let made = transformer.map { $0.transformedValue(observed) } ?? observed
      guard made == nil, let placeholder = given[.nullPlaceholder] else { return .value(made) }
      return .placeholder(placeholder)
    case .marker(let marker): return .placeholder(given[marker.placeholder])
    default: return value
    }
  }

  /// Returns the observed value for what the property was set to.
  func entered(_ value: BoundValue) -> BoundValue {
    guard case .value(let shown) = value, let transformer else { return value }
    return .value(transformer.reverseTransformedValue(shown))
  }
}
