// Manual notification of set mutations.

import CKVO

extension KeyValueObservable {
  /// Announces that a set is about to be mutated.
  ///
  /// Call `didChangeValue(forKey:withSetMutation:using:)` after the mutation, on the same thread. As on Apple's platforms, the
  /// change is computed now, from the present set and the argument, whatever is done afterwards. For `union` it is an insertion of
  /// the objects that the set does not contain; for `minus` a removal of those that it contains; for `intersect` a removal of the
  /// members that the argument does not contain; for `set` a replacement with both. It notifies even if no member is added or
  /// removed.
  ///
  /// - Parameters:
  ///   - key: A property of type `Set<E>` or `Set<E>?`; `nil` counts as an empty set. Another type is fault KVO0026, and nothing is
  ///     announced.
  ///   - mutationKind: What is done with the argument.
  ///   - objects: The argument of the mutation. A member that is not of the property's element type is fault KVO0026.
  public nonisolated func willChangeValue(
    forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let site = SourceLocation(file: fileID, line: line)
    let object = adoptedObject
    let hash = keyHash(name(ofAnnounced: key))
    guard kvo_binding_is_observed(object, hash) else { return kvo_binding_will_unobserved(object, hash) }
    guard let property = KeyValueClass.of(self).property(named: key) else {
      kvo_binding_will_unobserved(object, hash)
      return raise(.undefinedKey(of: self, key: key, .get), .coding(site))
    }
    let found = CollectionProperty(object: self, property: property, site: site)
    func open<Members: SetValue>(_: Members.Type) {
      guard let argument = recast(members: objects, as: Members._Item.self) else {
        kvo_binding_will_unobserved(object, property.key)
        return found.raiseMismatch(unsuitable(objects, as: Members._Item.self)!, expected: Members._Item.self)
      }
      let access = property.access(to: self) as! PropertyAccess<Members>
      let edit = SetEdit(mutationKind, argument, of: access.read().items ?? [])
      kvo_binding_will_change_values(
        object, property.key, kvo_change_kind(UInt32(mutationKind.change.rawValue)),
        mutationKind == .union ? nil : .__copy(Members.holding(edit.removed), as: Members.self),
        mutationKind.adds ? .__copy(Members.holding(edit.added), as: Members.self) : nil)
    }
    guard let type = found.valueType as? any SetValue.Type else {
      kvo_binding_will_unobserved(object, property.key)
      return found.raiseNoCollection(found.valueType, "a set")
    }
    open(type)
  }

  /// Announces that the mutation begun by `willChangeValue(forKey:withSetMutation:using:)` is complete, and notifies the observers.
  ///
  /// The arguments other than the key have no effect and exist for compatibility with Apple's method: the change is the one
  /// computed before the mutation.
  public nonisolated func didChangeValue(
    forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    CallLocation(SourceLocation(file: fileID, line: line), self, key: key).isPresent { didChangeValue(forKey: key) }
  }

  /// Calls `willChangeValue(forKey:withSetMutation:using:)` with the key that a key path of one property of this class names.
  public nonisolated func willChangeValue<Members: _KeyValueSet>(
    for keyPath: KeyPath<Self, Members>, withSetMutation mutation: NSKeyValueSetMutationKind,
    using set: Set<Members._Item>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    guard let name = name(of: keyPath, SourceLocation(file: fileID, line: line)) else { return }
    willChangeValue(
      forKey: name, withSetMutation: mutation, using: recast(members: set, as: AnyHashable.self)!, fileID: fileID,
      line: line)
  }

  /// Calls `didChangeValue(forKey:withSetMutation:using:)` with the key that a key path of one property of this class names.
  public nonisolated func didChangeValue<Members: _KeyValueSet>(
    for keyPath: KeyPath<Self, Members>, withSetMutation mutation: NSKeyValueSetMutationKind,
    using set: Set<Members._Item>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    guard let name = name(of: keyPath, SourceLocation(file: fileID, line: line)) else { return }
    didChangeValue(forKey: name, withSetMutation: mutation, using: [], fileID: fileID, line: line)
  }
}
