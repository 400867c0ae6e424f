// The proxy of a set property, which notifies of each mutation.

/// A proxy of a set property, whose mutations notify with the added and removed members.
///
/// ```swift
/// let tags = document.mutableSetValue(forKey: "tags", of: String.self)
/// tags.insert("draft")              // observers of "tags" get an insertion of what was really added
/// tags.formIntersection(["final"])  // a removal of what was really removed
/// ```
/// Like ``KeyValueMutableArray``, the proxy refers to the property and raises the same faults. Each mutation is one change without
/// indexes. A union is an insertion of the members that were not there before; a removal and an intersection are a removal; setting
/// and a symmetric difference are a replacement with the removed and the added members. As on Apple's platforms, a mutation
/// notifies even if no member is added or removed.
public struct KeyValueMutableSet<Element: Hashable>: Sequence {
  let place: SetPlace<Element>

  /// The present members, as an independent set.
  public var members: Set<Element> { place.members }
  /// The number of members; 0 if the property is `nil`.
  public var count: Int { place.members.count }
  /// Whether the set is empty or the property is `nil`.
  public var isEmpty: Bool { place.members.isEmpty }
  /// The number of members.
  public var underestimatedCount: Int { count }
  /// Returns whether the set contains a member.
  public func contains(_ member: Element) -> Bool { place.members.contains(member) }
  /// Returns an iterator over the present members, which later changes do not affect.
  public func makeIterator() -> Set<Element>.Iterator { place.members.makeIterator() }

  /// Inserts a member, as an insertion, which is empty if the set already contained it.
  ///
  /// - Returns: Whether it was inserted, and the member that the set contains now.
  @discardableResult
  public func insert(_ member: Element) -> (inserted: Bool, memberAfterInsert: Element) {
    let edit = place.mutate(.union) { _ in [member] }
    let present = place.members
    return (edit?.added.isEmpty == false, present.firstIndex(of: member).map { present[$0] } ?? member)
  }

  /// Removes a member, as a removal, which is empty if the set did not contain it.
  ///
  /// - Returns: The member that was removed, or `nil`.
  @discardableResult
  public func remove(_ member: Element) -> Element? { place.mutate(.minus) { _ in [member] }?.removed.first }

  /// Inserts members, as an insertion of those that the set did not contain.
  public func formUnion(_ others: some Sequence<Element>) { mutate(.union, others) }

  /// Removes members, as a removal of those that the set contained.
  public func subtract(_ others: some Sequence<Element>) { mutate(.minus, others) }

  /// Removes all other members than the given ones, as a removal.
  public func formIntersection(_ others: some Sequence<Element>) { mutate(.intersect, others) }

  /// Removes the given members that the set contains and inserts the others, as a replacement.
  public func formSymmetricDifference(_ others: some Sequence<Element>) {
    let others = Set(others)
    _ = place.mutate(.set) { $0().symmetricDifference(others) }
  }

  /// Removes all members, as a removal.
  public func removeAll(keepingCapacity: Bool = false) { _ = place.mutate(.minus) { $0() } }

  /// Replaces all members, as a replacement with the removed and the added members.
  public func setSet(_ members: Set<Element>) { mutate(.set, members) }

  private func mutate(_ kind: NSKeyValueSetMutationKind, _ others: some Sequence<Element>) {
    let others = Set(others)
    _ = place.mutate(kind) { _ in others }
  }
}

extension KeyValueMutableSet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Equatable {
  public var description: String { place.members.description }
  public var debugDescription: String { place.members.debugDescription }
  /// The mirror that shows the elements in debuggers.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: place.members, displayStyle: .set) }
  /// Returns whether the members are equal, even if the properties are different.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.place.members == rhs.place.members }
}
