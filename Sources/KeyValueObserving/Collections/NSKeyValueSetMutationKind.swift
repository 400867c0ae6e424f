// The kinds of change of a set, with Apple's names and values.

/// What a mutation does to a set.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Members are inserted: an insertion of those that were not there.
  case union = 1
  /// Members are removed: a removal of those that were there.
  case minus
  /// All but some members are removed: a removal of those.
  case intersect
  /// All members are replaced: a replacement, with those that went and those that came.
  case set
}
