// The options of an observation and the typed change record, with Apple's names and values.

import CKVO
public import Foundation

/// Which values an observer receives, and when it is notified.
///
/// ```swift
/// document.observe(\.title, options: [.initial, .old, .new], for: self) { me, document, change in
///   print(change.oldValue ?? "nothing", "->", change.newValue!)  // first: nothing -> Untitled
/// }
/// ```
/// Without options an observer is told that the property has changed, and reads the value itself. The first four options are Apple's.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// Apple's option bits.
  public let rawValue: UInt

  /// Creates options from their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Changes include the new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// Changes include the old value.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// The observer is called once before registration returns, with the present value if `.new` was requested.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  /// The observer is also called before each change.
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
  /// Changes of an array or a set are delivered as insertions, removals and replacements, however the change was made.
  ///
  /// This option is an addition: Apple's platforms deliver such changes only for mutations through accessors and proxies. With it,
  /// `items.append(x)`, `items[i] = y`, `items.sort()` and `items = other` are delivered as changes of elements. Applying the
  /// delivered changes, in order, to a copy of the collection always results in the present collection. The changes are found by
  /// comparing the collection with its state at the observer's last notification: by `Equatable`, or by identity for elements that
  /// are not equatable.
  ///
  /// The common prefix and the common suffix have not changed. For the rest, an array delivers an insertion, a removal or, if the
  /// number of elements is the same, a replacement at the indexes that differ; otherwise it delivers two changes: a replacement,
  /// and an insertion or removal of the remaining elements at the end of that range. A set delivers an insertion of the added
  /// elements, a removal of the removed ones, or both as a replacement, without indexes. A change that leaves all elements equal, a
  /// change from or to `nil`, and a change of elements that cannot be compared are delivered as a setting. So is the notification
  /// before a change (`.prior`), because the change is not known yet, unless it is made through a proxy or announced as one of elements.
  ///
  /// Each change costs time and memory in proportion to the whole collection. The option has no effect on other properties.
  public static let collectionChanges = NSKeyValueObservingOptions(rawValue: 1 << 16)
  /// A change to an equal value is not delivered.
  ///
  /// An addition of this library. The old and the new value are compared with `==`, as the observer's key path sees them: for a
  /// computed property or a nested path the value of the whole expression. Changes of the elements of a collection that are delivered
  /// as such are always delivered.
  ///
  /// Each change is compared by itself. The value delivered last may not be the present one after the property was set again during a
  /// change of it, before that stored its value (in a notification with `.prior`, in `willSet`, or before `didChangeValue`), and after
  /// another observer of a change has led the key path away from what changed.
  ///
  /// With a typed key path the value has to be `Equatable`; otherwise, and together with `.prior`, because before a change the new
  /// value is not known, the registration is fault KVO0008. With a string key path values that cannot be compared are delivered.
  public static let distinct = NSKeyValueObservingOptions(rawValue: 1 << 17)

  /// Changes are settings of the whole value, with the old and the new one, also of collections.
  @usableFromInline static let whole = NSKeyValueObservingOptions(rawValue: 1 << 18)
  /// With `.initial`: of merged sources only the first one that has a value tells it, not each.
  @usableFromInline static let initialOfFirst = NSKeyValueObservingOptions(rawValue: 1 << 21)

  /// An observation of the classic API ends, without a fault, when the object is deallocated.
  ///
  /// An addition of this library, known from SJObserverHelper. An observation made with a closure always does, and the option changes
  /// nothing.
  public static let endsWithObject = NSKeyValueObservingOptions(rawValue: 1 << 19)
  /// An observation of the classic API ends, without a fault, when the observer or the object is deallocated, whichever comes first.
  ///
  /// ```swift
  /// document.addObserver(self, forKeyPath: "title", options: [.new, .endsWithObserver])
  /// ```
  /// An addition of this library, known from SJObserverHelper; that it includes ``endsWithObject`` is our decision. The observation
  /// ends exactly once, on whichever thread. While both live it may be removed as usual, and added again. An observer that is an
  /// observable object ends it after its `deinit`, which may still remove it; another one at the next change, which is not delivered.
  ///
  /// An observation that is made with a closure for a receiver always ends with it, and the option changes nothing. One without a
  /// receiver has no observer that could be deallocated: with this option it is fault KVO0008.
  public static let endsWithObserver = NSKeyValueObservingOptions(rawValue: 1 << 20)

  static let ends: NSKeyValueObservingOptions = [.endsWithObject, .endsWithObserver]

  /// The options with the values that the observation itself needs.
  var needed: NSKeyValueObservingOptions { contains(.distinct) ? union([.old, .new]) : self }

  /// The greatest set of Apple's options.
  @usableFromInline static let mostOfApple: UInt = 15
}

/// A change of an observed property.
///
/// It has the values that the options of the observation request; the others are `nil`. A handler that is called on another thread or on an
/// actor gets the values as they were when the change was made.
public struct NSKeyValueObservedChange<Value> {
  /// The kind of a change.
  public typealias Kind = NSKeyValueChange

  /// The kind of the change.
  public let kind: Kind

  /// The new value if `.new` was requested; `nil` before the change. For an optional property that is `nil` it is `.some(nil)`.
  public let newValue: Value?

  /// The old value if `.old` was requested. For an optional property that was `nil` it is `.some(nil)`.
  ///
  /// When an object that a path goes through is deallocated, the old value is present only if its type holds no object references:
  /// numbers, strings, data, URLs, and optionals and collections of these.
  public let oldValue: Value?

  /// The indexes of an insertion, removal or replacement, whose values contain only these elements; `nil` for a setting and for a set.
  public let indexes: IndexSet?

  /// `true` in the notification before a change, which `.prior` requests.
  public let isPrior: Bool

  /// Creates a change, for instance to test a change handler.
  @inlinable
  public init(
    kind: Kind, newValue: Value? = nil, oldValue: Value? = nil, indexes: IndexSet? = nil, isPrior: Bool = false
  ) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    self.indexes = indexes
    self.isPrior = isPrior
  }
}

/// A handler may send a change to another isolation domain, such as the main actor.
extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

extension IndexSet {
  /// Creates the set of the indexes of a change, or `nil` if it has none.
  @usableFromInline
  init?(__positions positions: UnsafePointer<Int>?, count: Int) {
    guard let positions else { return nil }
    self.init(UnsafeBufferPointer(start: positions, count: count))
  }
}
