// The kinds of set mutation, with Apple's names and values.

/// The kind of a mutation of a set.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Inserts members: an insertion of those that the set did not contain.
  case union = 1
  /// Removes members: a removal of those that the set contained.
  case minus
  /// Removes all other members than the given ones: a removal of those.
  case intersect
  /// Replaces all members: a replacement with the removed and the added members.
  case set
}
