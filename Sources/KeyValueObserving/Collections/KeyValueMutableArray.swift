// The handle of an array that is a property: a mutable collection whose every mutation is told.

import CKVO
import Foundation

/// An array property as a mutable collection whose mutations are told as insertions, removals and replacements.
///
/// ```swift
/// let items = document.mutableArrayValue(forKey: "items", of: Item.self)
/// items.append(item)              // observers of "items" get an insertion, its position and the item
/// items.remove(at: [0, 2])        // one removal
/// items[0] = other                // one replacement
/// ```
/// It refers to the property as Apple's `mutableArrayValue(forKey:)` does: it has no elements of its own, always shows the present
/// ones, and a copy of it is another handle of the same property. So all of its methods can be called on a constant, and a function
/// that changes "its copy" of a collection changes the property; `Array(handle)` is a copy that is not told. It notifies also
/// when it was made before the observation began, which on Apple's platforms is not certain.
///
/// Each mutation is told once, but for two: ``replaceSubrange(_:with:)-5dnqj`` of a range by another number of elements is a
/// replacement and an insertion or removal, and ``setArray(_:)``, as Apple's, a removal and an insertion. What changes nothing, such
/// as appending no element, tells nothing. The elements are changed in place; they are copied only for observers that ask for all of
/// them. Of a computed property the setter is called with the whole new value, and whatever that changes is told.
///
/// A position outside is fault KVO0037, elements that do not fit their positions are KVO0040, a collection that is `nil` is KVO0038
/// (its `count` is 0), an element of another type is KVO0026, a property without a setter KVO0009. After each of them nothing has
/// changed and nobody was told. Only where a value has to be returned, the process ends, whatever the policy.
///
/// Thread safe as the property itself is: not, without a lock of the program. It keeps the object alive.
public struct KeyValueMutableArray<Element> {
  let place: ListPlace<Element>

  init(_ place: ListPlace<Element>) { self.place = place }

  /// Makes a list of its own, not of a property; nobody is told of its changes.
  public init() { self.init(OwnList()) }

  /// Makes a list of its own with these elements.
  public init(_ elements: some Sequence<Element>) {
    self.init()
    append(contentsOf: elements)
  }

  /// Changes the list; returns what was removed or replaced, `nil` after a fault.
  @discardableResult
  func change(_ edit: ListEdit<Element>) -> [Element]? { place.change(edit) }

  /// Whether these are positions of the list; otherwise a fault.
  func permits(_ range: Range<Int>) -> Bool {
    // One position behind the last is permitted, as the end of a range.
    let first = Swift.max(range.lowerBound, count)
    let outside = range.lowerBound < 0 ? range.lowerBound : range.upperBound > count ? first : nil
    guard let outside else { return true }
    raiseOutside(outside, count: count, of: place.name, site: place.site)
    return false
  }
}

extension KeyValueMutableArray: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// A position.
  public typealias Index = Int
  /// A copy of some of the elements.
  public typealias SubSequence = ArraySlice<Element>

  /// The number of elements, 0 when the property is `nil`.
  public var count: Int { place.count ?? 0 }
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { count }
  /// The next position.
  public func index(after index: Int) -> Int { index + 1 }
  /// The position before.
  public func index(before index: Int) -> Int { index - 1 }

  /// The element at a position; setting it is one replacement.
  ///
  /// To read outside is fault KVO0037 and ends the process.
  public subscript(position: Int) -> Element {
    get {
      guard permits(position..<position + 1) else { fatalError("there is no element \(position)") }
      return place.element(at: position)
    }
    nonmutating set { change(ListEdit(replacing: position..<position + 1, with: [newValue])) }
  }

  /// The elements of a range; setting them is ``replaceSubrange(_:with:)-5dnqj``.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get {
      guard permits(bounds) else { return [] }
      return place.elements[bounds]
    }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  /// The elements of a range; setting them is ``replaceSubrange(_:with:)-5dnqj``.
  public subscript(bounds: some RangeExpression<Int>) -> ArraySlice<Element> {
    get { self[bounds.relative(to: self)] }
    nonmutating set { replaceSubrange(bounds, with: newValue) }
  }

  /// Iterates over the elements as they are now, whatever is changed meanwhile.
  public func makeIterator() -> IndexingIterator<[Element]> { place.elements.makeIterator() }

  public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(place.elements) }

  /// The elements of `lhs`, then those of `rhs`, in a list of its own; the property of `lhs` does not change.
  public static func + (lhs: Self, rhs: some Sequence<Element>) -> Self {
    let sum = Self(lhs.place.elements)
    sum.append(contentsOf: rhs)
    return sum
  }

  /// The elements of `lhs`, then those of `rhs`, in a list of its own; the property of `lhs` does not change.
  public static func + (lhs: Self, rhs: some RangeReplaceableCollection<Element>) -> Self {
    let sum = Self(lhs.place.elements)
    sum.append(contentsOf: rhs)
    return sum
  }

  /// Appends the elements of `rhs` to the list of `lhs`: one insertion.
  public static func += (lhs: Self, rhs: some Sequence<Element>) { lhs.append(contentsOf: rhs) }
}

extension KeyValueMutableArray: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { place.elements.description }
  public var debugDescription: String { place.elements.debugDescription }
  /// The elements, for debuggers.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: place.elements, displayStyle: .collection) }
}

extension KeyValueMutableArray: Equatable where Element: Equatable {
  /// Whether the elements are equal, be they of the same property or not.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.place.elements == rhs.place.elements }
}
