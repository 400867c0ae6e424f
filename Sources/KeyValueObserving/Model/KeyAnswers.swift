// A class's answers about its keys: which notify automatically, and what affects each.

import CKVO
import Foundation

/// The answers of one class for all its keys, computed once.
struct KeyAnswers {
  private(set) var manualKeys: Set<UInt64> = []
  private(set) var affectingPaths: [UInt64: [String]] = [:]
  private(set) var affectingKeyPaths: [UInt64: [AnyKeyPath]] = [:]
  private(set) var selfDependencies: [UInt64: [String]] = [:]
  private(set) var malformedPaths: [UInt64: String] = [:]

  /// Creates no answers.
  init() {}

  init(
    _ type: any KeyValueObservable.Type, _ description: KeyValueClassDescription, _ properties: [KeyValueProperty],
    _ aliases: some Collection<KeyAlias>
  ) {
    let names = DeclaredNames(type, description, properties, aliases)
    let customization = (type as? any NSKeyValueObservingCustomization.Type).map { ($0, names.pathsInAncestors()) }
    for property in properties {
      var paths: Set<String> = []
      // By default the methods for all keys return what the members declare, for all properties of the name.
      var notifies =
        type.automaticallyNotifiesObservers(forKey: property.name)
        || !description.automaticallyNotifies(ofKey: property.name)
      // A class with a property `isOpen` may use the key `open` in its answers.
      let others = aliases.filter { $0.property === property }.map(\.key)
      for name in [property.name] + others {
        let ofMembers = description.paths(affecting: name)
        paths.formUnion(type.keyPathsForValuesAffectingValue(forKey: name).subtracting(ofMembers))
      }
      // Also included if the class overrides the methods for other keys and does not call `super`.
      for name in [property.declaredName] + others {
        paths.formUnion(names.paths(affecting: property, as: name))
        if !names.automaticallyNotifies(of: property, as: name) { notifies = false }
      }
      if let (type, inAncestors) = customization {
        // The class compares with its own key paths; those of a subclass are different.
        for path in [property.path] + inAncestors.compactMap({ $0[property.key] }) {
          if !type.automaticallyNotifiesObservers(for: path) { notifies = false }
          for affecting in type.keyPathsAffectingValue(for: path) {
            if let name = names.name(of: affecting) {
              paths.insert(name)
            } else {
              affectingKeyPaths[property.key, default: []].append(affecting)
            }
          }
        }
      }
      if type is any _KeyValueOperation.Type, property.isComputed, Operation.stateKeys.contains(property.name) {
        notifies = false
      }
      if !notifies { manualKeys.insert(property.key) }
      let own = [property.name] + others
      let isOwn = { (path: String) in own.contains { path == $0 || path.hasPrefix($0 + ".") } }
      if paths.contains(where: isOwn) { selfDependencies[property.key] = paths.sorted() }
      paths = paths.filter { !isOwn($0) }
      let malformed = paths.filter { components(ofPath: $0) == nil }
      if let first = malformed.min() { malformedPaths[property.key] = first }
      paths.subtract(malformed)
      if !paths.isEmpty { affectingPaths[property.key] = paths.sorted() }
    }
  }
}

/// Returns `<Key>` in the names of methods for a key. As on Apple's platforms, only an ASCII letter is capitalized.
func capitalized(_ key: String) -> String {
  guard let first = key.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return key }
  return key.prefix(1).uppercased() + key.dropFirst()
}

extension KeyValueClass {
  /// Reports, when it is observed, a key that is declared to affect itself. It is observed as if that declaration did not exist.
  func reportSelfDependency(of name: String, _ site: SourceLocation) {
    let key = keyHash(name)
    guard let declared = selfDependencies[key] else { return }
    let own = declared.first { $0 == name || $0.hasPrefix(name + ".") } ?? name
    let className = _typeName(type, qualified: false)
    let set = "{(\n    \(declared.joined(separator: ",\n    "))\n)}"
    let includes =
      own == name
      ? "the same key that was passed in, which is not valid."
      : "a key path that starts with the same key that was passed in, which is not valid. The property identified by the "
        + "key path already depends on the property identified by the key, never vice versa."
    raiseFault(
      KVO_FAULT_SELF_DEPENDENCY, "\"\(own)\" is declared to affect \"\(name)\" of \(className)",
      apple:
        "\(className): A +keyPathsForValuesAffectingValueForKey: message returned a set that includes \(includes)\n"
        + "Passed-in key: \(name)\nReturned key path set: \(set)",
      help: "remove \"\(own)\" from what is declared to affect \"\(name)\"",
      site: site)
  }

  /// Reports, when it is observed, a key for which a malformed key path is declared. It is observed as if that declaration did not exist.
  func reportMalformedPath(of name: String, _ site: SourceLocation) {
    guard let path = malformedPaths[keyHash(name)] else { return }
    raiseFault(
      KVO_FAULT_MALFORMED_KEY_PATH,
      "the key path \"\(path)\", declared to affect \"\(name)\" of \(_typeName(type, qualified: false)), is malformed",
      help: "correct \"\(path)\" in what is declared to affect \"\(name)\"", site: site)
  }
}
