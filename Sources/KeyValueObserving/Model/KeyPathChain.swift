// The properties on a typed key path of several components, found without evaluating it.

import CKVO

/// The properties on a key path, in order.
struct KeyPathChain: Sendable {
  let properties: [KeyValueProperty]
  /// Whether a property is announced manually or declared to depend on others, so that recording its reads is not sufficient.
  let needsKeys: Bool
  /// Whether an object is reached by a property that is not observed, such as a `let`.
  let hasGaps: Bool

  /// The equivalent string key path.
  var name: String { properties.map(\.name).joined(separator: ".") }

  /// Finds the properties; `nil` if a component is not a property that its class describes.
  init?(_ keyPath: AnyKeyPath, _ components: [KeyPathComponent], from cls: KeyValueClass) {
    // If objects refer to each other in many ways, finding the properties by name is faster.
    var triesLeft = 1000
    guard
      let found = Self.path(equalTo: keyPath, components[...], from: cls, made: nil, forces: false, &triesLeft)
        ?? Self.path(named: components, from: cls)
    else { return nil }
    properties = found.map(\.property)
    needsKeys = found.contains { !$0.property.notifiesAlways(in: $0.cls) }
    hasGaps = found.dropLast().contains { $0.property.isDirect && !$0.property.isStored }
  }

  fileprivate typealias Step = (property: KeyValueProperty, cls: KeyValueClass)

  /// Builds paths of stored properties until one is equal.
  ///
  /// - Parameter forces: Whether `!` follows what is made.
  private static func path(
    equalTo keyPath: AnyKeyPath, _ components: ArraySlice<KeyPathComponent>, from cls: KeyValueClass, made: AnyKeyPath?,
    forces: Bool, _ triesLeft: inout Int
  ) -> [Step]? {
    var made = made
    if forces, let present = made, let type = type(of: present).valueType as? any OptionalProtocol.Type {
      made = present.appending(path: type.forced)
    }
    guard let component = components.first else {
      let isEqual = made.map {
        type(of: $0).valueType == type(of: keyPath).valueType && $0.hashValue == keyPath.hashValue
      }
      return isEqual ?? false ? [] : nil
    }
    for property in cls.properties where component.mayBe(property) {
      triesLeft -= 1
      guard triesLeft > 0 else { return nil }
      var longer: AnyKeyPath? = property.path
      if let made {
        longer = made.appending(path: property.path) ?? property.chained.flatMap { made.appending(path: $0) }
      }
      guard let longer else { continue }
      let rest = components.dropFirst()
      let next = rest.isEmpty ? cls : property.valueClass
      if let next,
        let found = path(
          equalTo: keyPath, rest, from: next, made: longer, forces: component.marks.hasPrefix("!"), &triesLeft)
      {
        return [(property, cls)] + found
      }
    }
    return nil
  }

  /// Finds the properties by the names of the getters.
  private static func path(named components: [KeyPathComponent], from cls: KeyValueClass) -> [Step]? {
    let found = first(of: components, from: cls)
    return found.count == components.count ? found : nil
  }

  /// Finds the properties that the first components name.
  fileprivate static func first(of components: [KeyPathComponent], from cls: KeyValueClass) -> [Step] {
    var found: [Step] = []
    var cls: KeyValueClass? = cls
    for component in components {
      guard let present = cls, let property = present.property(of: component) else { break }
      found.append((property, present))
      cls = property.valueClass
    }
    return found
  }
}

/// The properties that a key path begins with, if it continues behind them with anything else, as `\.title.count` does, and one of
/// them is announced manually, declared to depend on others, or computed, so that it may be announced without a declaration.
struct KeyPathHead: Sendable {
  let properties: [KeyValueProperty]
  /// Whether nothing behind the properties can be observed: the last one holds no object, and the rest are stored properties, or members
  /// of the standard library or Foundation that call no code of the program. False if the names of the getters are not known.
  private let endsPlainly: Bool

  /// - Parameter isAll: Whether the key path goes through nothing else than these components.
  fileprivate init?(_ components: [KeyPathComponent], isAll: Bool, from cls: KeyValueClass) {
    let found = KeyPathChain.first(of: components, from: cls)
    guard let last = found.last, found.contains(where: { !$0.property.notifiesAlways(in: $0.cls) }) else { return nil }
    properties = found.map(\.property)
    let value = type(of: last.property.path).valueType
    let rest = components.dropFirst(found.count)
    // Members such as `description` call those of the elements.
    endsPlainly =
      isAll && _openExistential(value, do: holdsNoObject)
      && (rest.allSatisfy { $0.getter == nil } || (isOfLibrary(value) && rest.allSatisfy(\.isPlain)))
  }

  /// Records, while the runtime records, the key of each property and what is declared to affect it.
  ///
  /// - Returns: Whether nothing else counts that the key path reads: the last property's class declares or announces it.
  func record(from root: any KeyValueObservable) -> Bool {
    guard kvo_track_is_recording() else { return false }
    var object = root
    for property in properties.dropLast() {
      let property = property.renamed(in: object)
      object.recordDependencies(ofKey: property.name)
      guard let next = unwrapped(object.recorded(property) { $0.read(object) }).flatMap(observable) else {
        return false
      }
      object = next
    }
    let last = properties[properties.count - 1].renamed(in: object)
    object.recordDependencies(ofKey: last.name)
    return replacesReads(last, of: object)
  }

  /// Returns, for a key path that is evaluated next, what `record` returns.
  func replacesReads(from root: any KeyValueObservable) -> Bool {
    guard endsPlainly else { return false }
    let paused = kvo_track_pause()
    defer { kvo_track_resume(paused) }
    var object = root
    for property in properties.dropLast() {
      guard let next = unwrapped(property.renamed(in: object).read(object)).flatMap(observable) else { return false }
      object = next
    }
    return replacesReads(properties[properties.count - 1].renamed(in: object), of: object)
  }

  /// The object's class is asked, because a subclass may declare for a computed property what its superclass does not, and the reverse.
  private func replacesReads(_ last: KeyValueProperty, of object: any KeyValueObservable) -> Bool {
    endsPlainly && KeyValueClass.of(object).isDeclared(last)
  }
}

/// What is known about a key path before it is evaluated.
struct KnownKeyPath: Sendable {
  /// The properties that it goes through, if its class describes them all.
  let chain: KeyPathChain?
  /// The first of them, if it goes through other components and their keys have to be recorded.
  let head: KeyPathHead?
  let forced: ForcedPath?

  /// `nil` if nothing is known.
  init?(_ keyPath: AnyKeyPath, from cls: KeyValueClass) {
    let (components, isAll) = KeyPathComponent.first(of: keyPath)
    let hasForce = components.contains { $0.marks.contains("!") }
    let found = isAll && (components.count > 1 || hasForce) ? KeyPathChain(keyPath, components, from: cls) : nil
    chain = components.count > 1 ? found : nil
    let hasHead = chain == nil && (!isAll || components.count > 1 || hasForce)
    head = hasHead ? KeyPathHead(components, isAll: isAll, from: cls) : nil
    forced = hasForce ? ForcedPath(components, found, from: cls) : nil
    if chain == nil, head == nil, forced == nil { return nil }
  }
}

extension KeyValueClass {
  /// Returns the property that a component of a key path names, by the getter's name.
  func property(of component: KeyPathComponent) -> KeyValueProperty? {
    guard let name = component.name, let property = property(named: String(name)), property.name == name,
      !isRedeclared(property.key), component.mayBe(property)
    else { return nil }
    return property
  }
}

extension KeyValueProperty {
  /// The class of the objects that the property holds, if it is observable.
  var valueClass: KeyValueClass? {
    var value: Any.Type = type(of: path).valueType
    while let optional = value as? any OptionalProtocol.Type { value = optional.wrappedType }
    return (value as? any KeyValueObservable.Type).map { KeyValueClass.of(type: $0) }
  }

  /// Returns whether the property's accessors notify of every change.
  func notifiesAlways(in cls: KeyValueClass) -> Bool {
    (isStored || isWeak || isConstant) && !cls.isManual(key) && !cls.isAffected(key)
  }
}
