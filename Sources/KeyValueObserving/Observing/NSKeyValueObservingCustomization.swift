// Questions about keys, asked with typed key paths: Apple's protocol for Swift.

/// A class that tells with key paths which of its properties notify, and what affects them.
///
/// ```swift
/// @KeyValueObservable
/// final class Person: NSKeyValueObservingCustomization {
///   var first = ""
///   var last = ""
///   @NotObserved var cache = ""
///   var full: String { cache }
///
///   static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
///     key == \Person.full ? [\Person.first, \Person.last] : []
///   }
///   static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
/// }
/// ```
/// The answers are joined with those of `keyPathsForValuesAffectingValue(forKey:)` and `automaticallyNotifiesObservers(forKey:)`.
/// Both are asked when the class is first used, for each property, and remembered. A subclass is asked with its own key paths and
/// with those of its superclasses, so that `\Base.name` is recognised in both (on Apple's platforms it is not always). An observer
/// in C hears of the ones that are single properties.
public protocol NSKeyValueObservingCustomization: KeyValueObservable {
  /// Returns the key paths whose changes change the value of `key`.
  nonisolated static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>
  /// Tells whether setting the property notifies its observers by itself.
  nonisolated static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}
