// Where the members of a handle of a set are: in a property, or nowhere.

import CKVO

/// What a mutation of a set is told as.
struct SetEdit<Element: Hashable> {
  let kind: NSKeyValueSetMutationKind
  /// What comes and what goes, of all that the mutation is about.
  var added: Set<Element> = []
  var removed: Set<Element> = []

  /// What a mutation does to a set.
  init(_ kind: NSKeyValueSetMutationKind, _ argument: Set<Element>, of present: Set<Element>) {
    self.kind = kind
    switch kind {
    // Over the argument's members only: the set's own operations go over those of the other one, which may be many more.
    case .union: added = argument.filter { !present.contains($0) }
    case .minus: removed = Set(argument.compactMap { member in present.firstIndex(of: member).map { present[$0] } })
    case .intersect: removed = present.subtracting(argument)
    case .set: (added, removed) = (argument.subtracting(present), present.subtracting(argument))
    }
  }
}

extension NSKeyValueSetMutationKind {
  /// The kind of change that observers are told.
  var change: NSKeyValueChange {
    switch self {
    case .union: .insertion
    case .minus, .intersect: .removal
    case .set: .replacement
    }
  }

  /// Whether there may be new members.
  var adds: Bool { self == .union || self == .set }
}

/// A set whose members are seen as of type `Element`; without one there are none.
class SetPlace<Element: Hashable> {
  var members: Set<Element> { [] }
  /// Changes the set, tells it, and returns what it did; `nil` when it was refused, by a fault.
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
    let unsuitable = items.first { recast($0, as: Element.self) == nil }
    property.raiseMismatch(unsuitable as Any, expected: Element.self)
    // There is no value to go on with, whatever the policy.
    fatalError("\"\(property.property.name)\" holds members that are no \(Element.self)")
  }

  override func mutate(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Element>? {
    guard let modify = access.modify else {
      property.raiseReadOnly()
      return nil
    }
    guard let edit = edit(kind, argument), store(edit, by: modify) else { return nil }
    return converted(edit)
  }

  /// What the mutation does; a function of its own, so that nothing refers to the set any more when it is changed: else it would be
  /// copied.
  private func edit(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Members._Item>? {
    guard let present = access.read().items else {
      property.raiseNil()
      return nil
    }
    let wanted = argument { recast(members: present, as: Element.self) ?? [] }
    if let items = recast(members: wanted, as: Members._Item.self) { return SetEdit(kind, items, of: present) }
    let unsuitable = wanted.first { recast($0, as: Members._Item.self) == nil }
    property.raiseMismatch(unsuitable as Any, expected: Members._Item.self)
    return nil
  }

  private func store(_ edit: SetEdit<Members._Item>, by modify: ((inout Members) -> Void) -> Void) -> Bool {
    var isStored = false
    property.tell(edit.kind.change, at: nil) {
      edit.kind == .union ? nil : Members.holding(edit.removed)
    } newElements: {
      edit.kind.adds ? Members.holding(edit.added) : nil
    } store: {
      // What is removed lives until the access is over: `edit` has it.
      modify { members in
        guard members.items != nil else { return }
        members.edit(removing: edit.removed, adding: edit.added)
        isStored = true
      }
      if !isStored { property.raiseNil() }
      return isStored
    }
    return isStored
  }

  private func converted(_ edit: SetEdit<Members._Item>) -> SetEdit<Element> {
    var converted = SetEdit<Element>(edit.kind, [], of: [])
    converted.added = recast(members: edit.added, as: Element.self) ?? []
    converted.removed = recast(members: edit.removed, as: Element.self) ?? []
    return converted
  }
}
