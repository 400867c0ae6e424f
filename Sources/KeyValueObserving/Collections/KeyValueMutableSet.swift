// The handle of a set that is a property: every mutation is told.

/// A set property whose mutations are told by what they add and remove.
///
/// ```swift
/// let tags = document.mutableSetValue(forKey: "tags", of: String.self)
/// tags.insert("draft")              // observers of "tags" get an insertion of what was really added
/// tags.formIntersection(["final"])  // a removal of what was really removed
/// ```
/// It refers to the property, as ``KeyValueMutableArray`` does, and has the same faults. Each mutation is one change without
/// positions: a union is an insertion, of what was not there before; a removal and an intersection are a removal; setting, and a
/// symmetric difference, are a replacement with what went and what came. As on Apple's platforms it is told also when nothing
/// was added or removed.
public struct KeyValueMutableSet<Element: Hashable>: Sequence {
  let place: SetPlace<Element>

  /// The members as they are now, in a set of their own.
  public var members: Set<Element> { place.members }
  /// The number of members, 0 when the property is `nil`.
  public var count: Int { place.members.count }
  /// Whether there is no member, or the property is `nil`.
  public var isEmpty: Bool { place.members.isEmpty }
  /// The number of members.
  public var underestimatedCount: Int { count }
  /// Tells whether there is such a member.
  public func contains(_ member: Element) -> Bool { place.members.contains(member) }
  /// Iterates over the members as they are now, whatever is changed meanwhile.
  public func makeIterator() -> Set<Element>.Iterator { place.members.makeIterator() }

  /// Inserts a member: an insertion, with nothing if it was there.
  ///
  /// - Returns: Whether it was inserted, and the member that is in the set now.
  @discardableResult
  public func insert(_ member: Element) -> (inserted: Bool, memberAfterInsert: Element) {
    let edit = place.mutate(.union) { _ in [member] }
    let present = place.members
    return (edit?.added.isEmpty == false, present.firstIndex(of: member).map { present[$0] } ?? member)
  }

  /// Removes a member: a removal, of nothing if it was not there.
  ///
  /// - Returns: The member that was in the set, or `nil`.
  @discardableResult
  public func remove(_ member: Element) -> Element? { place.mutate(.minus) { _ in [member] }?.removed.first }

  /// Inserts members: an insertion of those that were not there.
  public func formUnion(_ others: some Sequence<Element>) { mutate(.union, others) }

  /// Removes members: a removal of those that were there.
  public func subtract(_ others: some Sequence<Element>) { mutate(.minus, others) }

  /// Removes all but these: a removal.
  public func formIntersection(_ others: some Sequence<Element>) { mutate(.intersect, others) }

  /// Removes those that are there and inserts the others: a replacement.
  public func formSymmetricDifference(_ others: some Sequence<Element>) {
    let others = Set(others)
    _ = place.mutate(.set) { $0().symmetricDifference(others) }
  }

  /// Removes all members: a removal.
  public func removeAll(keepingCapacity: Bool = false) { _ = place.mutate(.minus) { $0() } }

  /// Replaces all members: a replacement, with those that went and those that came.
  public func setSet(_ members: Set<Element>) { mutate(.set, members) }

  private func mutate(_ kind: NSKeyValueSetMutationKind, _ others: some Sequence<Element>) {
    let others = Set(others)
    _ = place.mutate(kind) { _ in others }
  }
}

extension KeyValueMutableSet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Equatable {
  public var description: String { place.members.description }
  public var debugDescription: String { place.members.debugDescription }
  /// The elements, for debuggers.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: place.members, displayStyle: .set) }
  /// Whether the members are equal, be they of the same property or not.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.place.members == rhs.place.members }
}
