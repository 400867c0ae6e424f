// The difference between two states of a collection.

import Foundation

/// One change between two states of a collection.
struct CollectionStep {
  let kind: NSKeyValueChange
  /// The indexes of the elements, or `nil` for a set.
  let indexes: IndexSet?
  let old: Any?
  let new: Any?
  /// The collection after this step, which is the final state only if it is the last step.
  let result: Any
  let isLast: Bool
}

/// Returns the first step from one state to another; `nil` if they are equal, cannot be compared, or are not collections of the
/// same type.
///
/// - Parameter announced: The kind and indexes of the notification, if it was for elements. They are used if they describe the
///   difference.
func step(
  from before: Any, to after: Any, announced: (kind: NSKeyValueChange, indexes: IndexSet?)?
) -> CollectionStep? {
  if let list = list(before) { return listStep(from: list, to: after, announced) }
  if let set = before as? any SetValue { return setStep(from: set, to: after, announced?.kind) }
  return nil
}

// MARK: - Lists

private func listStep<List: ListValue>(
  from before: List, to after: Any, _ announced: (kind: NSKeyValueChange, indexes: IndexSet?)?
) -> CollectionStep? {
  guard let after = after as? List, before.itemCount != nil, after.itemCount != nil else { return nil }
  let same = ElementComparison<List._Item>()
  if let announced, let indexes = announced.indexes, let edit = edit(announced.kind, Positions(indexes), in: after) {
    if let result = applying(edit, to: before), same.areEqual(result.itemArray, after.itemArray) {
      return step(edit, of: before, result: after, isLast: true)
    }
  }
  guard let edits = edits(from: before.itemArray, to: after.itemArray, same), let edit = edits.first else { return nil }
  guard edits.count > 1 else { return step(edit, of: before, result: after, isLast: true) }
  return applying(edit, to: before).map { step(edit, of: before, result: $0, isLast: false) }
}

private func step<List: ListValue>(
  _ edit: ListEdit<List._Item>, of before: List, result: List, isLast: Bool
) -> CollectionStep {
  CollectionStep(
    kind: edit.kind, indexes: IndexSet(edit.positions),
    old: edit.kind == .insertion ? nil : List.holding(before.picking(edit.positions)),
    new: edit.kind == .removal ? nil : List.holding(edit.elements), result: result, isLast: isLast)
}

/// Returns the edit of this kind that results in a list; `nil` if there is none.
private func edit<List: ListValue>(
  _ kind: NSKeyValueChange, _ positions: Positions, in after: List
) -> ListEdit<List._Item>? {
  if kind == .removal { return ListEdit(kind, at: positions) }
  guard (positions.last ?? -1) < after.itemCount ?? 0 else { return nil }
  return ListEdit(kind, at: positions, after.picking(positions))
}

private func applying<List: ListValue>(_ edit: ListEdit<List._Item>, to list: List) -> List? {
  guard edit.positionOutside(count: list.itemCount ?? 0) == nil else { return nil }
  var result = list
  result.edit(edit)
  return result
}

/// Returns at most two edits that change one array into the other; `nil` if their elements cannot be compared.
private func edits<Item>(
  from before: [Item], to after: [Item], _ same: ElementComparison<Item>
) -> [ListEdit<Item>]? {
  guard let (start, end) = same.commonEnds(before, after) else { return nil }
  let common = start..<min(before.count, after.count) - end
  let differing = common.filter { same.isSame(before[$0], after[$0]) != true }
  var edits: [ListEdit<Item>] = []
  if !differing.isEmpty { edits.append(ListEdit(.replacement, at: .list(differing), differing.map { after[$0] })) }
  if after.count > before.count {
    edits.append(ListEdit(inserting: Array(after[common.upperBound..<after.count - end]), at: common.upperBound))
  } else if before.count > after.count {
    edits.append(ListEdit(removing: common.upperBound..<before.count - end))
  }
  return edits
}

// MARK: - Sets

private func setStep<Members: SetValue>(
  from before: Members, to after: Any, _ announced: NSKeyValueChange?
) -> CollectionStep? {
  guard let after = after as? Members, let old = before.items, let new = after.items else { return nil }
  let removed = old.subtracting(new)
  // Usually one of the two is empty, which the counts show.
  let added = new.count == old.count - removed.count ? [] : new.subtracting(old)
  let found: NSKeyValueChange? =
    switch (removed.isEmpty, added.isEmpty) {
    case (true, true): nil
    case (true, false): .insertion
    case (false, true): .removal
    case (false, false): .replacement
    }
  // Keeps the kind of the notification if it describes the difference: the proxy of a set also notifies when nothing is added or
  // removed.
  let isAccurate =
    switch announced {
    case .insertion: removed.isEmpty
    case .removal: added.isEmpty
    case .replacement: true
    case .setting, nil: false
    }
  guard let kind = isAccurate ? announced : found else { return nil }
  return CollectionStep(
    kind: kind, indexes: nil, old: kind == .insertion ? nil : Members.holding(removed),
    new: kind == .removal ? nil : Members.holding(added), result: after, isLast: true)
}
