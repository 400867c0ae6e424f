// The storage of a set proxy's members: a property, or none.

import CKVO

/// The change that a mutation of a set results in.
struct SetEdit<Element: Hashable> {
  let kind: NSKeyValueSetMutationKind
  /// The members that the mutation adds and removes.
  var added: Set<Element> = []
  var removed: Set<Element> = []

  /// Computes the change of a set by a mutation.
  init(_ kind: NSKeyValueSetMutationKind, _ argument: Set<Element>, of present: Set<Element>) {
    self.kind = kind
    switch kind {
    // Iterates over the argument only: the set operations would iterate over the present set, which may be much larger.
    case .union: added = argument.filter { !present.contains($0) }
    case .minus: removed = Set(argument.compactMap { member in present.firstIndex(of: member).map { present[$0] } })
    case .intersect: removed = present.subtracting(argument)
    case .set: (added, removed) = (argument.subtracting(present), present.subtracting(argument))
    }
  }

  /// Returns the change with members of another type; none, if one has a different type.
  func converted<Result: Hashable>() -> SetEdit<Result> {
    var converted = SetEdit<Result>(kind, [], of: [])
    converted.added = recast(members: added, as: Result.self) ?? []
    converted.removed = recast(members: removed, as: Result.self) ?? []
    return converted
  }
}

extension NSKeyValueSetMutationKind {
  /// The kind of change in the notification.
  var change: NSKeyValueChange {
    switch self {
    case .union: .insertion
    case .minus, .intersect: .removal
    case .set: .replacement
    }
  }

  /// Whether the mutation can add members.
  var adds: Bool { self == .union || self == .set }
}

/// The storage of a set whose members are accessed as type `Element`; this base class is empty.
class SetPlace<Element: Hashable> {
  var members: Set<Element> { [] }
  /// Changes the set, notifies, and returns the change; `nil` after a fault.
  func mutate(_ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>)
    -> SetEdit<Element>?
  {
    nil
  }
}

/// A set that is the value of a property.
final class PropertySet<Members: SetValue, Element: Hashable>: SetPlace<Element> {
  private let property: CollectionProperty
  private let access: PropertyAccess<Members>

  init(_ property: CollectionProperty, _ access: PropertyAccess<Members>) {
    self.property = property
    self.access = access
  }

  override var members: Set<Element> {
    guard let items = access.read().items else { return [] }
    if let members = recast(members: items, as: Element.self) { return members }
    property.raiseUnreadable(unsuitable(items, as: Element.self)!, as: Element.self)
    // There is no value to return, whatever the policy is.
    fatalError("\"\(property.property.name)\" holds members that are no \(Element.self)")
  }

  override func mutate(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Element>? {
    guard let modify = access.modify else {
      property.raiseReadOnly()
      return nil
    }
    guard let computed = edit(kind, argument) else { return nil }
    return store(computed, argument, by: modify)?.converted()
  }

  /// Returns the change. This is a separate function, so that it releases its reference to the set before the set is changed;
  /// otherwise the set would be copied.
  private func edit(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Members._Item>? {
    guard let present = access.read().items else {
      property.raiseNil()
      return nil
    }
    let wanted = argument { recast(members: present, as: Element.self) ?? [] }
    if let items = recast(members: wanted, as: Members._Item.self) { return SetEdit(kind, items, of: present) }
    property.raiseMismatch(unsuitable(wanted, as: Members._Item.self)!, expected: Members._Item.self)
    return nil
  }

  /// Returns the change that was made; `nil` after a fault.
  private func store(
    _ computed: SetEdit<Members._Item>, _ argument: (_ present: () -> Set<Element>) -> Set<Element>,
    by modify: ((inout Members) -> Void) -> Void
  ) -> SetEdit<Members._Item>? {
    var (edit, isStored) = (computed, false)
    property.notify(edit.kind.change, at: nil) {
      edit.kind == .union ? nil : Members.holding(edit.removed)
    } newElements: {
      edit.kind.adds ? Members.holding(edit.added) : nil
    } store: { isLate in
      if isLate { edit = renewed(edit, argument) }
      // `edit` retains the removed members until the access ends.
      modify { members in
        guard members.items != nil else { return }
        members.edit(removing: edit.removed, adding: edit.added)
        isStored = true
      }
      if !isStored { property.raiseNil() }
      return isStored
    }
    return isStored ? edit : nil
  }

  /// Computes the change again, of the members that the set has now.
  private func renewed(
    _ edit: SetEdit<Members._Item>, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Members._Item> {
    let present = access.read().items ?? []
    let wanted = argument { recast(members: present, as: Element.self) ?? [] }
    return recast(members: wanted, as: Members._Item.self).map { SetEdit(edit.kind, $0, of: present) } ?? edit
  }
}
