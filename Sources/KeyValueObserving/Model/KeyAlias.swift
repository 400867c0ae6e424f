// Further keys for a property, after the accessor and instance variable names of Apple's platforms.

/// A key that stands for a property with another name.
struct KeyAlias {
  let key: String
  let property: KeyValueProperty

  /// Returns the keys of a class that are not property names: `flag` for `isFlag`, `_flag` or `_isFlag`, in this order of
  /// precedence.
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

    /// Returns the keys that this form of name provides.
    func keys(of name: String) -> [String] {
      switch self {
      case .getter: Form.keys(capitalizedIn: name, after: "is")
      case .variable: name.hasPrefix("_") && name.count > 1 ? [String(name.dropFirst())] : []
      case .getterVariable: Form.keys(capitalizedIn: name, after: "_is")
      }
    }

    /// `isURL` provides `URL` and `uRL`, which have the same `<Key>`; `island` provides neither.
    private static func keys(capitalizedIn name: String, after prefix: String) -> [String] {
      guard name.hasPrefix(prefix) else { return [] }
      let key = String(name.dropFirst(prefix.count))
      guard !key.isEmpty, capitalized(key) == key else { return [] }
      let lowered = key.prefix(1).lowercased() + key.dropFirst()
      return capitalized(lowered) == key && lowered != key ? [lowered, key] : [key]
    }
  }
}
