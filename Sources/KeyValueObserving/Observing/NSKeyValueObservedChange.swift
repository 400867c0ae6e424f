// What an observer asks for, and what it is told: options and the typed record, with Apple's names and values.

internal import CKVO
public import Foundation

/// What an observer wants to be told, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// Apple's bits.
  public let rawValue: UInt

  /// Makes options of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Changes carry the new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// Changes carry the old value.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// The observer is called once before registration returns, with the present value if it asks for new values.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  /// The observer is called also before each change.
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
  /// Changes of an array or a set are told as insertions, removals and replacements, whatever way they were made.
  ///
  /// Our addition: on Apple's platforms only mutations through accessors and proxies are. With it `items.append(x)`,
  /// `items[i] = y`, `items.sort()` and `items = other` are told by what they did to the elements, and so that applying what is told,
  /// in order, to a copy of the collection always gives the present collection. It is found by comparing with the collection as
  /// it was when the observer was told last: elements by `Equatable`, those that are not, by identity.
  ///
  /// What is common at both ends has not changed. Of the rest, an array tells an insertion, a removal, or, of as many new ones as old
  /// ones, a replacement of the positions that differ; otherwise two changes, a replacement, and an insertion or removal of what
  /// is more or less at the end. A set tells an insertion of what came, a removal of what went, or both as a replacement, without
  /// positions. A setting is told of a change that leaves all elements equal, from or to `nil`, and of elements that cannot be compared.
  /// Before a change, which is not known yet, a setting is told.
  ///
  /// It costs time and memory for the whole collection with each change. It means nothing for other properties.
  public static let collectionChanges = NSKeyValueObservingOptions(rawValue: 1 << 16)
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
  /// The kind of a change.
  public typealias Kind = NSKeyValueChange

  /// What happened to the value.
  public let kind: Kind

  /// The new value, when asked for with `.new`; `nil` before the change. Of an optional property it is `.some(nil)` for `nil`.
  public let newValue: Value?

  /// The old value, when asked for with `.old`. Of an optional property it is `.some(nil)` for `nil`.
  ///
  /// When an object that a path goes through dies, it is there only of a type that holds no object: numbers, texts, data, URLs, and
  /// optionals and collections of these.
  public let oldValue: Value?

  /// The positions of an insertion, removal or replacement, otherwise `nil`; the values then hold these elements only.
  public let indexes: IndexSet?

  /// `true` in the call before a change that `.prior` asks for.
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

/// So that a handler may hand a change on, to the main actor for instance.
extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

extension IndexSet {
  /// The positions that a change carries, or `nil` when it has none.
  @usableFromInline
  init?(__positions positions: UnsafePointer<Int>?, count: Int) {
    guard let positions else { return nil }
    self.init(UnsafeBufferPointer(start: positions, count: count))
  }
}
