// The model's accessors for its set. They announce their changes, as a program would implement them.
import KeyValueObserving

extension T {
  func union(_ objects: Set<AnyHashable>, in key: String) throws { try change(key, .union, objects) }
  func minus(_ objects: Set<AnyHashable>, in key: String) throws { try change(key, .minus, objects) }
  func intersect(_ objects: Set<AnyHashable>, in key: String) throws { try change(key, .intersect, objects) }

  /// Changes the storage between announcements, unless the class announces the key manually.
  private func change(_ key: String, _ mutation: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) throws {
    guard key == "bag" else { throw ScriptError("\(Self.kind) has no set accessors for \(quoted(key))") }
    let announces = Self.automaticallyNotifiesObservers(forKey: key)
    if announces { willChangeValue(forKey: key, withSetMutation: mutation, using: objects) }
    switch mutation {
    case .union: try setRaw(key, to: bag.union(objects))
    case .minus: try setRaw(key, to: bag.subtracting(objects))
    case .intersect: try setRaw(key, to: bag.intersection(objects))
    case .set: try setRaw(key, to: objects)
    }
    if announces { didChangeValue(forKey: key, withSetMutation: mutation, using: objects) }
  }
}
