// The proxy of an array property: a mutable collection that notifies of each mutation.

import CKVO

/// A proxy of an array property: a mutable collection whose mutations notify as insertions, removals and replacements.
///
/// ```swift
/// let items = document.mutableArrayValue(forKey: "items", of: Item.self)
/// items.append(item)              // observers of "items" get an insertion, its position and the item
/// items.remove(at: [0, 2])        // one removal
/// items[0] = other                // one replacement
/// ```
/// Like the result of Apple's `mutableArrayValue(forKey:)`, the proxy refers to the property. It has no elements of its own and
/// always contains the present ones; a copy of it is another proxy of the same property. Therefore all methods can be called on a
/// constant, and a function that changes its copy of the proxy changes the property. `Array(proxy)` is an independent copy. The
/// proxy also notifies if it was created before the observation began, which Apple's platforms do not guarantee.
///
/// Each mutation notifies once, with these exceptions: ``replaceSubrange(_:with:)-(Range<Int>,_)`` with a different number of elements
/// is a replacement and an insertion or removal; like Apple's, ``setArray(_:)`` is a removal and an insertion, `exchange` two
/// replacements, and `remove(_:)` one removal for each equal element. A call that changes nothing, such as appending no elements, does
/// not notify. The elements are changed in place; they are copied only if an observer requests the whole value. For a computed
/// property the setter is called with the whole new value, and notifies of whatever it changes.
///
/// An index out of range is fault KVO0037; a number of elements different from that of the indexes is KVO0040; a collection that is
/// `nil` is KVO0038 (its `count` is 0); an element of another type is KVO0026; a read-only property is KVO0009. After each of these
/// faults nothing has changed and nobody was notified. Only a call that has to return a value ends the process, whatever the policy
/// is.
///
/// Like the property itself, the proxy is not thread-safe without a lock of the program. It retains the object.
public struct KeyValueMutableArray<Element> {
  let place: ListPlace<Element>

  init(_ place: ListPlace<Element>) { self.place = place }

  /// Creates an independent list that belongs to no property and does not notify.
  public init() { self.init(OwnList()) }

  /// Creates an independent list with the given elements.
  public init(_ elements: some Sequence<Element>) {
    self.init()
    append(contentsOf: elements)
  }

  /// Changes the list and returns the removed or replaced elements; `nil` after a fault.
  @discardableResult
  func change(_ edit: ListEdit<Element>) -> [Element]? { place.change(edit) }

  /// Returns whether a range is within the bounds of the list; otherwise raises a fault.
  func permits(_ range: Range<Int>) -> Bool {
    // The end index is permitted as the upper bound of a range.
    let first = Swift.max(range.lowerBound, count)
    let outside = range.lowerBound < 0 ? range.lowerBound : range.upperBound > count ? first : nil
    guard let outside else { return true }
    raiseOutside(outside, count: count, of: place.name, site: place.site)
    return false
  }

  /// Returns the range of an expression. One that begins behind the end, or ends before the beginning, is an empty range there, which is
  /// not permitted; the conversion of the standard library would end the process.
  func range(of bounds: some RangeExpression<Int>) -> Range<Int> {
    let known = bounds.relative(to: Int.min..<Int.max)
    let (lower, upper) = (known.lowerBound, known.upperBound)
    let first = lower == .min ? Swift.min(0, upper) : lower
    return first..<(upper == .max ? Swift.max(first, count) : upper)
  }
}

extension KeyValueMutableArray: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// The type of an index.
  public typealias Index = Int
  /// A copy of a range of elements.
  public typealias SubSequence = ArraySlice<Element>

  /// The number of elements; 0 if the property is `nil`.
  public var count: Int { place.count ?? 0 }
  /// The start index, which is always 0.
  public var startIndex: Int { 0 }
  /// The end index, which is the number of elements.
  public var endIndex: Int { count }
  /// Returns the next index.
  public func index(after index: Int) -> Int { index + 1 }
  /// Returns the previous index.
  public func index(before index: Int) -> Int { index - 1 }

  /// Accesses the element at an index. Setting it is one replacement.
  ///
  /// Reading an index out of range is fault KVO0037 and ends the process.
  public subscript(position: Int) -> Element {
    get {
      guard permits(position..<position + 1) else { fatalError("there is no element \(position)") }
      return place.element(at: position)
    }
    nonmutating set { change(ListEdit(replacing: position..<position + 1, with: [newValue])) }
  }

  /// Accesses the elements in a range. Setting them calls ``replaceSubrange(_:with:)-(Range<Int>,_)``.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get {
      guard permits(bounds) else { return [] }
      return place.elements[bounds]
    }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  /// Accesses the elements in a range. Setting them calls ``replaceSubrange(_:with:)-(Range<Int>,_)``.
  public subscript(bounds: some RangeExpression<Int>) -> ArraySlice<Element> {
    get { self[range(of: bounds)] }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  /// Returns an iterator over the present elements, which later changes do not affect.
  public func makeIterator() -> IndexingIterator<[Element]> { place.elements.makeIterator() }

  public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(place.elements) }

  /// Returns an independent list with the elements of `lhs` and `rhs`. The property of `lhs` does not change.
  public static func + (lhs: Self, rhs: some Sequence<Element>) -> Self {
    let sum = Self(lhs.place.elements)
    sum.append(contentsOf: rhs)
    return sum
  }

  /// Returns an independent list with the elements of `lhs` and `rhs`. The property of `lhs` does not change.
  public static func + (lhs: Self, rhs: some RangeReplaceableCollection<Element>) -> Self {
    let sum = Self(lhs.place.elements)
    sum.append(contentsOf: rhs)
    return sum
  }

  /// Appends the elements of `rhs` to the list of `lhs`, as one insertion.
  public static func += (lhs: Self, rhs: some Sequence<Element>) { lhs.append(contentsOf: rhs) }
}

extension KeyValueMutableArray: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { place.elements.description }
  public var debugDescription: String { place.elements.debugDescription }
  /// The mirror that shows the elements in debuggers.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: place.elements, displayStyle: .collection) }
}

extension KeyValueMutableArray: Equatable where Element: Equatable {
  /// Returns whether the elements are equal, even if the properties are different.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.place.elements == rhs.place.elements }
}
