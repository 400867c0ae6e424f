// A class's answers about its keys: which notify automatically, and what affects each.

import CKVO
import Foundation

/// The answers of one class for all its keys, computed once.
struct KeyAnswers {
  private(set) var manualKeys: Set<UInt64> = []
  private(set) var affectingPaths: [UInt64: [String]] = [:]
  private(set) var affectingKeyPaths: [UInt64: [AnyKeyPath]] = [:]
  private(set) var selfDependencies: [UInt64: [String]] = [:]

  init(
    _ type: any KeyValueObservable.Type, _ description: KeyValueClassDescription, _ properties: [KeyValueProperty],
    _ aliases: some Collection<KeyAlias>
  ) {
    let ancestors = KeyAnswers.ancestors(of: type)
    for property in properties {
      var paths: Set<String> = []
      var notifies = type.automaticallyNotifiesObservers(forKey: property.name)
      // A class with a property `isOpen` may use the key `open` in its answers.
      let names = [property.name] + aliases.filter { $0.property === property }.map(\.key)
      for name in names {
        paths.formUnion(type.keyPathsForValuesAffectingValue(forKey: name))
        // Also included if the class overrides the method for other keys and does not call `super`.
        paths.formUnion(description.paths(affecting: name))
        if !description.automaticallyNotifies(ofKey: name) { notifies = false }
      }
      if let type = type as? any NSKeyValueObservingCustomization.Type {
        // The class compares with its own key paths; those of a subclass are different.
        for path in [property.path] + ancestors.compactMap({ $0.property(named: property.name)?.path }) {
          if !type.automaticallyNotifiesObservers(for: path) { notifies = false }
          for affecting in type.keyPathsAffectingValue(for: path) {
            if let name = KeyAnswers.name(of: affecting, properties, ancestors) {
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
      let isOwn = { (path: String) in names.contains { path == $0 || path.hasPrefix($0 + ".") } }
      if paths.contains(where: isOwn) { selfDependencies[property.key] = paths.sorted() }
      paths = paths.filter { !isOwn($0) }
      if !paths.isEmpty { affectingPaths[property.key] = paths.sorted() }
    }
  }

  private static func ancestors(of type: any KeyValueObservable.Type) -> [KeyValueClass] {
    guard let parent = _getSuperclass(type) as? any KeyValueObservable.Type else { return [] }
    return [KeyValueClass.of(type: parent)] + ancestors(of: parent)
  }

  private static func name(
    of path: AnyKeyPath, _ properties: [KeyValueProperty], _ ancestors: [KeyValueClass]
  ) -> String? {
    if let own = properties.first(where: { $0.path == path }) { return own.name }
    return ancestors.lazy.compactMap { $0.property(at: path)?.name }.first
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
}
