// The storage of a proxy's elements for a key that is no property: the collection that `value(forKey:)` returns and
// `setValue(_:forKey:)` sets, as for an entry of a `KeyValueDictionary`.

import CKVO

/// A collection that an object provides for a key that is no property.
struct KeyedCollection: NamedCollection {
  let object: any KeyValueObservable
  let key: String
  let place: SourceLocation
  var site: SourceLocation? { place }

  /// The present value; `nil` also after a fault.
  var value: Any? { KeyPathWalk.codedValue(of: object, at: .key(key), place).flatMap(unwrapped) }

  /// Sets the value, and returns whether it was stored.
  ///
  /// - Parameter isIt: Whether a value is the one to set. If a fault was raised, which may be one of an observer, the value that the
  ///   key has then is compared.
  func set(_ value: Any, isIt: (Any) -> Bool) -> Bool {
    let faults = kvo_thread_fault_count()
    _ = KeyPathWalk.setCodedValue(value, of: object, at: .key(key), place)
    return kvo_thread_fault_count() == faults || self.value.map(isIt) ?? false
  }
}

/// A list whose mutations set it as a whole, which tells a setting.
final class KeyedList<Element>: ListPlace<Element> {
  private let keyed: KeyedCollection

  init(_ keyed: KeyedCollection) { self.keyed = keyed }

  private var present: (any ListValue)? { keyed.value.flatMap { list($0) } }
  override var count: Int? { present?.itemCount }
  override func element(at position: Int) -> Element { keyed.element(present!.item(at: position)) }
  override var elements: [Element] {
    guard let present else { return [] }
    return (0..<(present.itemCount ?? 0)).map { keyed.element(present.item(at: $0)) }
  }
  override var name: String { keyed.name }
  override var site: SourceLocation? { keyed.site }

  override func change(_ edit: ListEdit<Element>) -> [Element]? {
    guard let value = keyed.value else {
      keyed.raiseNil()
      return nil
    }
    guard let list = list(value) else {
      keyed.raiseNoCollection(Swift.type(of: value), "an array")
      return nil
    }
    return change(list, edit)
  }

  private func change<List: ListValue>(_ present: List, _ edit: ListEdit<Element>) -> [Element]? {
    var changed = present
    guard let edit = edit.map({ recast($0, elementsAs: List._Item.self) }) else {
      keyed.raiseMismatch(unsuitable(edit.elements, as: List._Item.self)!, expected: List._Item.self)
      return nil
    }
    let count = changed.itemCount ?? 0
    if let outside = edit.positionOutside(count: count) {
      raiseOutside(outside, count: count, of: name, site: site)
      return nil
    }
    let removed = edit.kind == .insertion ? [] : changed.picking(edit.positions)
    changed.edit(edit)
    let isStored = keyed.set(changed) { stored in
      guard list(stored)?.itemCount == changed.itemCount else { return false }
      guard edit.kind == .replacement, let stored = stored as? List, let areEqual = equality(of: List._Item.self) else {
        return true
      }
      return zip(stored.picking(edit.positions), edit.elements).allSatisfy(areEqual)
    }
    return isStored ? removed.map { keyed.element($0) } : nil
  }
}

/// A set whose mutations set it as a whole, which tells a setting.
final class KeyedSet<Element: Hashable>: SetPlace<Element> {
  private let keyed: KeyedCollection

  init(_ keyed: KeyedCollection) { self.keyed = keyed }

  override var members: Set<Element> {
    func open<Members: SetValue>(_ present: Members) -> Set<Element> {
      let items = present.items ?? []
      if let members = recast(members: items, as: Element.self) { return members }
      keyed.raiseUnreadable(unsuitable(items, as: Element.self)!, as: Element.self)
      // There is no value to return, whatever the policy is.
      fatalError("\(keyed.name) holds members that are no \(Element.self)")
    }
    guard let present = keyed.value as? any SetValue else { return [] }
    return open(present)
  }

  override func mutate(
    _ kind: NSKeyValueSetMutationKind, _ argument: (_ present: () -> Set<Element>) -> Set<Element>
  ) -> SetEdit<Element>? {
    func open<Members: SetValue>(_ present: Members) -> SetEdit<Element>? {
      var changed = present
      let items = present.items ?? []
      let wanted = argument { recast(members: items, as: Element.self) ?? [] }
      guard let members = recast(members: wanted, as: Members._Item.self) else {
        keyed.raiseMismatch(unsuitable(wanted, as: Members._Item.self)!, expected: Members._Item.self)
        return nil
      }
      let edit = SetEdit(kind, members, of: items)
      changed.edit(removing: edit.removed, adding: edit.added)
      let isStored = keyed.set(changed) { ($0 as? Members)?.items == changed.items }
      return isStored ? edit.converted() : nil
    }
    guard let value = keyed.value else {
      keyed.raiseNil()
      return nil
    }
    guard let set = value as? any SetValue else {
      keyed.raiseNoCollection(Swift.type(of: value), "a set")
      return nil
    }
    return open(set)
  }
}

extension KeyValueObservable {
  /// Returns the storage of a list that `value(forKey:)` provides; an empty one after a fault.
  nonisolated func keyedList<Element>(forKey key: String, _ site: SourceLocation) -> ListPlace<Element> {
    guard let (keyed, value) = keyed(key, site) else { return ListPlace() }
    if let value {
      guard listType(Swift.type(of: value)) != nil, let list = value as? any ListValue else {
        keyed.raiseNoCollection(Swift.type(of: value), "an array")
        return ListPlace()
      }
      // Only the first element is checked; checking all of them would take too long.
      if list.itemCount ?? 0 > 0, recast(list.item(at: 0), as: Element.self) == nil {
        keyed.raiseUnreadable(list.item(at: 0), as: Element.self)
        return ListPlace()
      }
    }
    return KeyedList(keyed)
  }

  /// Does the same for a set.
  nonisolated func keyedSet<Element: Hashable>(forKey key: String, _ site: SourceLocation) -> SetPlace<Element> {
    // As for a list, only one is checked.
    func unsuitableMember<Members: SetValue>(_ members: Members) -> Any? {
      members.items.flatMap { unsuitable($0.prefix(1), as: Element.self) }
    }
    guard let (keyed, value) = keyed(key, site) else { return SetPlace() }
    if let value {
      guard let members = value as? any SetValue else {
        keyed.raiseNoCollection(Swift.type(of: value), "a set")
        return SetPlace()
      }
      if let unsuitable = unsuitableMember(members) {
        keyed.raiseUnreadable(unsuitable, as: Element.self)
        return SetPlace()
      }
    }
    return KeyedSet(keyed)
  }

  /// Returns the collection for a key and its present value; `nil` after a fault.
  private nonisolated func keyed(_ key: String, _ site: SourceLocation) -> (KeyedCollection, Any?)? {
    guard !(self is KeyValueRuntimeObject) else {
      raise(.undefinedKey(of: self, key: key, .get), .coding(site))
      return nil
    }
    let keyed = KeyedCollection(object: self, key: key, place: site)
    // Raises the fault if there is no such key.
    let faults = kvo_thread_fault_count()
    let value = keyed.value
    return kvo_thread_fault_count() == faults ? (keyed, value) : nil
  }
}
