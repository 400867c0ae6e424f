// Apple's kinds of change, and the keys of the change dictionary.

/// The kind of a change.
///
/// A change of a property that is no collection is a setting. That of a collection is an insertion, a removal or a replacement if it is
/// made through a proxy such as ``KeyValueMutableArray``, announced as one, or if the observer has the option
/// ``NSKeyValueObservingOptions/collectionChanges``.
public enum NSKeyValueChange: UInt, Sendable {
  /// The value was set.
  case setting = 1
  /// Elements were inserted into a collection.
  case insertion = 2
  /// Elements were removed from a collection.
  case removal = 3
  /// Elements of a collection were replaced.
  case replacement = 4
}

/// The keys of the dictionary that `observeValue(forKeyPath:of:change:context:)` receives.
///
/// ```swift
/// let title = change?[.newKey] as? String
/// ```
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
  /// Apple's string.
  public let rawValue: String

  /// Creates a key from a string.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The raw value of an ``NSKeyValueChange``, a `UInt`; always present.
  public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
  /// The new value, as the plain Swift value; `NSNull` for `nil`. Present if `.new` was requested.
  public static let newKey = NSKeyValueChangeKey(rawValue: "new")
  /// The old value, as the plain Swift value; `NSNull` for `nil`. Present if `.old` was requested.
  public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
  /// The indexes of an insertion, removal or replacement, an `IndexSet`. Sets have none.
  public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
  /// `true` in the notification before a change.
  public static let notificationIsPriorKey = NSKeyValueChangeKey(rawValue: "notificationIsPrior")
}
