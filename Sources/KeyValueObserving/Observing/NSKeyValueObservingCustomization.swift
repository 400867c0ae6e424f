// Automatic notification and dependent keys with typed key paths: Apple's protocol for Swift.

/// A class that uses key paths to say which of its properties notify, and which properties affect them.
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
/// The answers are combined with those of `keyPathsForValuesAffectingValue(forKey:)` and `automaticallyNotifiesObservers(forKey:)`.
/// Both methods are called for each property when the class is first used, and the answers are cached. A subclass is asked with its
/// own key paths and with those of its superclasses, so that `\Base.name` is recognised in both (on Apple's platforms it is not
/// always). An observer registered in C receives changes only of those key paths that name a single property.
public protocol NSKeyValueObservingCustomization: KeyValueObservable {
  /// Returns the key paths whose changes affect the value of `key`.
  nonisolated static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>
  /// Returns whether setting the property notifies its observers automatically.
  nonisolated static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}
