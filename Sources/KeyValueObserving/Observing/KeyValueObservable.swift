// The protocol of observable classes: what `@KeyValueObservable` fulfils and a class written by hand can fulfil too.

public import CKVO
public import Foundation

/// The address of an object's header, as C sees the object.
///
/// It is valid as long as the object lives; it does not keep the object alive.
public typealias KeyValueObjectReference = UnsafeMutablePointer<kvo_object>

/// An object whose properties can be observed.
///
/// Attach ``KeyValueObservable()`` to a class: the macro writes its accessors and the requirements that begin with underscores.
///
/// ```swift
/// @KeyValueObservable
/// final class Document {
///   var title = ""
/// }
///
/// let document = Document()
/// let token = document.observe(\.title, options: [.old, .new]) { _, change in
///   print(change.oldValue ?? "-", "->", change.newValue ?? "-")
/// }
/// document.title = "Hello"  // prints: -> Hello
/// token.invalidate()
/// ```
///
/// A package without the macro writes them by hand. ``KeyValueObservationHeader`` has a comment for each call:
///
/// ```swift
/// final class Track: KeyValueObservable {
///   let _$kvo = KeyValueObservationHeader()
///   var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
///
///   private static let titleKey = KeyValueObservationHeader.key("title")
///
///   private var storedTitle = ""
///   var title: String {
///     get { _$kvo.isTracking ? _$kvo.tracked(self, Self.titleKey, { storedTitle }) : storedTitle }
///     set {
///       guard _$kvo.isObserved else {
///         storedTitle = newValue
///         _$kvo.stored(Self.titleKey, { storedTitle })
///         return
///       }
///       _$kvo.change(Self.titleKey, { storedTitle }, { storedTitle = newValue })
///     }
///   }
///
///   static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
///     description.observed("title", titleKey, \Track.title, \Track?.?.title)
///   }
/// }
/// ```
///
/// Registering, removing and notifying are safe on any thread; the storage of a property is not: two threads that set one
/// property at the same time need a lock, as anywhere in Swift.
public protocol KeyValueObservable: AnyObject, SendableMetatype {
  /// The address of the object's header; written by the macro.
  nonisolated var __keyValueObject: KeyValueObjectReference { get }

  /// Lists the properties of the class; written by the macro.
  nonisolated static func __describeKeyValueProperties(_ description: KeyValueClassDescription)

  /// Tells whether setting a property notifies its observers by itself; the default is what the class's member
  /// `automaticallyNotifiesObserversOf<Key>` answers, and `true` without one.
  ///
  /// Of a computed property: whether changes of what it reads do. Answer `false` for a key whose changes you announce
  /// with `willChangeValue(forKey:)` and `didChangeValue(forKey:)`. Asked when
  /// the class is first observed, for each property, and remembered, as on Apple's platforms.
  nonisolated static func automaticallyNotifiesObservers(forKey key: String) -> Bool

  /// Returns the key paths, relative to the object, whose changes change the value of `key`; the default is what the class's
  /// member `keyPathsForValuesAffecting<Key>` answers, and none without one.
  ///
  /// Of a computed property nothing need be declared: without a declaration it depends on what its getter reads. With one, its
  /// observers are told of what is declared only, as on Apple's platforms, also at the end of a path; another computed property that
  /// reads it depends on all that is read. Asked when the class is first observed, for each property, and remembered, as on
  /// Apple's platforms.
  nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String>

  /// Announces that the value of a key is about to change.
  ///
  /// Call `didChangeValue(forKey:)` after the change, on the same thread. Pairs match by object and key; nested pairs each notify,
  /// as on Apple's platforms. For a key whose setter notifies by itself that gives two notifications.
  nonisolated func willChangeValue(forKey key: String)

  /// Announces that the change begun by the newest unmatched `willChangeValue(forKey:)` is done, and notifies.
  ///
  /// Without one nobody is notified, as on Apple's platforms; where the object is observed that is the error KVO0028.
  nonisolated func didChangeValue(forKey key: String)

  /// Announces that elements of an ordered collection are about to be inserted, removed or replaced.
  ///
  /// - Parameters:
  ///   - changeKind: `.insertion`, `.removal` or `.replacement`; `.setting` is `willChangeValue(forKey:)`.
  ///   - indexes: The positions: of an insertion after the change, of a removal before it.
  ///   - key: The key of the collection.
  nonisolated func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String)

  /// Announces that the change begun by `willChange(_:valuesAt:forKey:)` is done, and notifies.
  ///
  /// Kind and positions are those given before the change. Other ones here are the error KVO0033, and have no effect.
  nonisolated func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String)

  /// Tells whether properties named `_<key>` and `_is<Key>` answer `key`; the default is `true`.
  ///
  /// Asked when the class is first observed or read by a key, and remembered.
  nonisolated static var accessInstanceVariablesDirectly: Bool { get }

  /// Returns the value of a key: of the property of that name, else of `is<Key>`, `_<key>` or `_is<Key>`.
  ///
  /// The last two only where ``accessInstanceVariablesDirectly`` is `true`. The value is the plain Swift value, with optionals taken
  /// off; `nil` stands for a nil. For any other key `value(forUndefinedKey:)` is asked, by default a fault. `self` is the object.
  ///
  /// Key paths, collection operators and observers by string read each key by it, so that a class may answer some keys itself: it
  /// overrides this and calls `super` for the others, or ``codedValue(forKey:)`` if there is no `super`.
  ///
  /// Reads through the getter, on the thread that calls; as safe as that is.
  nonisolated func value(forKey key: String) -> Any?

  /// Sets the property that answers a key, through its setter: observers are notified once.
  ///
  /// A value of another type is converted if nothing is lost: numbers and texts that are numbers, raw values of enums, elements
  /// of collections; `NSNull` is nil for an optional that cannot hold it. What cannot be converted is fault KVO0026, which names
  /// the key and both types; the object is not changed then, and nobody is notified. `nil` for what cannot be nil calls
  /// `setNilValueForKey(_:)`, and a key that does not exist or cannot be set `setValue(_:forUndefinedKey:)`; both are faults
  /// by default. Nothing is validated, as on Apple's platforms.
  ///
  /// A stored property that is `@NotObserved` notifies when it is set this way, as what has no setter does on Apple's platforms.
  ///
  /// Key paths set each key by it: a class may override it, and call `super` or ``setCodedValue(_:forKey:)`` for the other keys.
  nonisolated func setValue(_ value: Any?, forKey key: String)

  /// Answers for a key that the class does not have; the default is fault KVO0009 and `nil`.
  nonisolated func value(forUndefinedKey key: String) -> Any?

  /// Sets a key that the class does not have, or that cannot be set; the default is fault KVO0009.
  nonisolated func setValue(_ value: Any?, forUndefinedKey key: String)

  /// Called by `setValue(nil, forKey:)` for a property that cannot be nil; the default is fault KVO0035.
  ///
  /// A class that has a meaning for it sets that, through the setter: `if key == "age" { age = 0 }`. Nothing was changed, and
  /// nobody notified, before.
  nonisolated func setNilValueForKey(_ key: String)

  /// Tells whether a value may be set for a key, by throwing if not; may put another in its place.
  ///
  /// The default calls the class's method `validate<Key>(_: inout Any?) throws`, if the macro finds one in the class, and otherwise
  /// accepts every value. Setting a value never validates it; call this before, as on Apple's platforms.
  nonisolated func validateValue(_ value: inout Any?, forKey key: String) throws

  /// A pointer that is not `nil` while any observation is registered with the object, also on behalf of another object's key
  /// path.
  ///
  /// Use it only to tell whether there is one; what it points to belongs to the runtime.
  nonisolated var observationInfo: UnsafeMutableRawPointer? { get }
}

extension KeyValueObservable {
  public nonisolated static func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    __automaticallyNotifiesObservers(forKey: key)
  }

  public nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    __keyPathsForValuesAffectingValue(forKey: key)
  }
}
