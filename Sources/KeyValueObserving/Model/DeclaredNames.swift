// The properties that names in the answers of a class's members mean: a subclass may have declared a private property's name again.

/// What names mean to a class and to its superclasses, in which the members that give the answers are declared.
struct DeclaredNames {
  private let description: KeyValueClassDescription
  private let properties: [KeyValueProperty]
  private let aliases: [String: KeyValueProperty]
  /// The superclasses, the nearest one first.
  private let ancestors: [KeyValueClass]

  init(
    _ type: any KeyValueObservable.Type, _ description: KeyValueClassDescription, _ properties: [KeyValueProperty],
    _ aliases: some Collection<KeyAlias>
  ) {
    self.description = description
    self.properties = properties
    self.aliases = Dictionary(aliases.map { ($0.key, $0.property) }, uniquingKeysWith: { first, _ in first })
    ancestors = DeclaredNames.ancestors(of: type)
  }

  private static func ancestors(of type: any KeyValueObservable.Type) -> [KeyValueClass] {
    guard let parent = _getSuperclass(type) as? any KeyValueObservable.Type else { return [] }
    return [KeyValueClass.of(type: parent)] + ancestors(of: parent)
  }

  /// Returns the key that a property of a superclass has in this class.
  private func key(of property: KeyValueProperty) -> UInt64 {
    let declared = property.owner.map { DeclaredKey(key: property.key, owner: ObjectIdentifier($0)) }
    return declared.flatMap { description.redeclaredKeys[$0] } ?? property.key
  }

  /// Returns the property that a property of a superclass is in this class.
  private func renamed(_ property: KeyValueProperty) -> KeyValueProperty {
    let key = key(of: property)
    return properties.first { $0.key == key } ?? property
  }

  /// Returns the property that a name means to a superclass, or to this class.
  private func property(named name: String, to ancestor: KeyValueClass?) -> KeyValueProperty? {
    ancestor?.property(named: name).map(renamed) ?? properties.first { $0.name == name } ?? aliases[name]
  }

  /// Returns the answers about a name that are about this property, each with the superclass whose member gives it. A class lists
  /// the members of its superclasses first.
  private func answers<Answer>(
    about property: KeyValueProperty, as name: String, _ answers: (KeyValueClassDescription) -> [() -> Answer]
  ) -> [(Answer, KeyValueClass?)] {
    answers(description).enumerated().compactMap { index, answer in
      let declarer = ancestors.last { index < answers($0.description).count }
      return self.property(named: name, to: declarer) === property ? (answer(), declarer) : nil
    }
  }

  /// Returns the key paths that members declare for a property, with the keys that this class has.
  func paths(affecting property: KeyValueProperty, as name: String) -> Set<String> {
    var paths: Set<String> = []
    for (answer, declarer) in answers(about: property, as: name, { $0.answers(affecting: name) }) {
      for path in answer { paths.insert(declarer.map { translated(path, of: $0) } ?? path) }
    }
    return paths
  }

  func automaticallyNotifies(of property: KeyValueProperty, as name: String) -> Bool {
    answers(about: property, as: name) { $0.answers(notifyingOf: name) }.allSatisfy(\.0)
  }

  /// Returns a key path of a superclass as this class has it.
  private func translated(_ path: String, of ancestor: KeyValueClass) -> String {
    let first = path.prefix { $0 != "." }
    guard let property = ancestor.property(named: String(first)), property.name == first else { return path }
    return renamed(property).name + path.dropFirst(first.count)
  }

  /// Returns the key of the property that a typed key path names; `nil` if it has several components.
  func name(of path: AnyKeyPath) -> String? {
    if let own = properties.first(where: { $0.path == path }) { return own.name }
    return ancestors.lazy.compactMap { $0.property(at: path) }.first.map { renamed($0).name }
  }

  /// Returns each superclass's own key paths of the properties of this class.
  func pathsInAncestors() -> [[UInt64: AnyKeyPath]] {
    ancestors.map { ancestor in
      Dictionary(ancestor.properties.map { (key(of: $0), $0.path) }, uniquingKeysWith: { $1 })
    }
  }
}
