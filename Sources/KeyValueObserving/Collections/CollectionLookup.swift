// The lookup of the property for a collection proxy.

import CKVO

/// The object and key at the end of a key path.
struct PathEnd {
  let object: any KeyValueObservable
  let key: String
}

extension KeyValueObservable {
  /// Returns the storage of a list property; an empty one after a fault.
  nonisolated func list<Element>(forKey key: String, _ site: SourceLocation) -> ListPlace<Element> {
    if let object = self as? KeyValueRuntimeObject, let list: ListPlace<Element> = object.runtimeList(forKey: key, site)
    {
      return list
    }
    guard let found = collection(forKey: key, site) else { return keyedList(forKey: key, site) }
    func open<List: ListValue>(_: List.Type) -> ListPlace<Element> {
      let access = found.property.access(to: self) as! PropertyAccess<List>
      // Only the first element is checked; checking all of them would take too long.
      if let first = access.read().itemArray.first, recast(first, as: Element.self) == nil {
        found.raiseUnreadable(first, as: Element.self)
        return ListPlace()
      }
      return PropertyList(found, access)
    }
    guard let type = listType(found.valueType) else {
      found.raiseNoCollection(found.valueType, "an array")
      return ListPlace()
    }
    return open(type)
  }

  /// Returns the storage of a set property; an empty one after a fault.
  nonisolated func set<Element: Hashable>(forKey key: String, _ site: SourceLocation) -> SetPlace<Element> {
    if let object = self as? KeyValueRuntimeObject, let set: SetPlace<Element> = object.runtimeSet(forKey: key, site) {
      return set
    }
    guard let found = collection(forKey: key, site) else { return keyedSet(forKey: key, site) }
    func open<Members: SetValue>(_: Members.Type) -> SetPlace<Element> {
      let access = found.property.access(to: self) as! PropertyAccess<Members>
      if let first = access.read().items?.first, recast(first, as: Element.self) == nil {
        found.raiseUnreadable(first, as: Element.self)
        return SetPlace()
      }
      return PropertySet(found, access)
    }
    guard let type = found.valueType as? any SetValue.Type else {
      found.raiseNoCollection(found.valueType, "a set")
      return SetPlace()
    }
    return open(type)
  }

  /// Returns the property, or `nil` if the key is none.
  private nonisolated func collection(forKey key: String, _ site: SourceLocation) -> CollectionProperty? {
    guard let property = KeyValueClass.of(self).property(named: key) else { return nil }
    return CollectionProperty(object: self, property: property, site: site)
  }

  /// Returns the object for the last key of a path; `nil` if an object on the path is `nil`, or after a fault.
  nonisolated func end(ofPath path: String, _ site: SourceLocation) -> PathEnd? {
    let (path, last) = CodedPath.splitting(path)
    guard let head = KeyPathWalk.codedValue(of: self, at: path, site).flatMap(unwrapped) else { return nil }
    if let object = observable(head) { return PathEnd(object: object, key: last) }
    raiseFault(
      KVO_FAULT_UNDEFINED_KEY,
      "the path to \"\(last)\" ends at a value of type \(Swift.type(of: head)): only the collections of an observable object have proxies",
      help: "set a changed copy with setValue(_:forKeyPath:)", site: site)
    return nil
  }

  /// Does the same for a typed key path.
  nonisolated func end(of keyPath: PartialKeyPath<Self>, _ site: SourceLocation) -> PathEnd? {
    if let property = property(at: keyPath, isAnnounced: true) { return PathEnd(object: self, key: property.name) }
    if let chain = KeyValueClass.of(type: Self.self).chain(of: keyPath) {
      var object: any KeyValueObservable = self
      for property in chain.properties.dropLast() {
        guard let next = unwrapped(property.read(object)).flatMap(observable) else { return nil }
        object = next
      }
      return PathEnd(object: object, key: chain.properties[chain.properties.count - 1].renamed(in: object).name)
    }
    raiseFault(
      KVO_FAULT_UNDEFINED_KEY, "\(keyPath) is not a property of \(_typeName(type(of: self), qualified: false))",
      apple: "Could not extract a String from KeyPath \(keyPath)",
      help: "name a property of a @KeyValueObservable class, or use the string form", site: site)
    return nil
  }
}
