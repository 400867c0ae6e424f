// Keys that a property answers besides its name, as accessors and instance variables do on Apple's platforms.

/// A key that is not the name of the property that answers it.
struct KeyAlias {
  let key: String
  let property: KeyValueProperty

  /// The keys of a class that no property's name is: `flag` where there is `isFlag`, `_flag` or `_isFlag`, in this order.
  static func all(of properties: [KeyValueProperty], withVariables: Bool) -> [UInt64: KeyAlias] {
    let names = Set(properties.map(\.name))
    var aliases: [UInt64: KeyAlias] = [:]
    for form in withVariables ? Form.allCases : [.getter] {
      for property in properties {
        for key in form.keys(of: property.name) where !names.contains(key) {
          let hash = keyHash(key)
          if aliases[hash] == nil { aliases[hash] = KeyAlias(key: key, property: property) }
        }
      }
    }
    return aliases
  }

  private enum Form: CaseIterable {
    case getter, variable, getterVariable

    /// The keys that a property of this name answers by this form.
    func keys(of name: String) -> [String] {
      switch self {
      case .getter: Form.keys(capitalizedIn: name, after: "is")
      case .variable: name.hasPrefix("_") && name.count > 1 ? [String(name.dropFirst())] : []
      case .getterVariable: Form.keys(capitalizedIn: name, after: "_is")
      }
    }

    /// `isURL` answers `URL` and `uRL`, which have the same `<Key>`; `island` answers neither.
    private static func keys(capitalizedIn name: String, after prefix: String) -> [String] {
      guard name.hasPrefix(prefix) else { return [] }
      let key = String(name.dropFirst(prefix.count))
      guard !key.isEmpty, capitalized(key) == key else { return [] }
      let lowered = key.prefix(1).lowercased() + key.dropFirst()
      return capitalized(lowered) == key && lowered != key ? [lowered, key] : [key]
    }
  }
}
