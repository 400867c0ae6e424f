// What a class answers about its keys: which notify by themselves, and what affects each.

import CKVO
import Foundation

/// The answers of one class to all questions about its keys, asked once.
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
      // A class that names `isOpen` may answer for `open`.
      let names = [property.name] + aliases.filter { $0.property === property }.map(\.key)
      for name in names {
        paths.formUnion(type.keyPathsForValuesAffectingValue(forKey: name))
        // Also where the class answers for other keys itself, and has no `super` to ask for the rest.
        paths.formUnion(description.paths(affecting: name))
        if !description.automaticallyNotifies(ofKey: name) { notifies = false }
      }
      if let type = type as? any NSKeyValueObservingCustomization.Type {
        // A class asks with its own key paths, and does not know those of a subclass, which are others.
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

extension KeyValueObservable {
  /// What a class answers whose members say it key by key; the macro writes a call of it where subclasses can override it.
  public nonisolated static func __keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    KeyValueClassDescription.of(self).paths(affecting: key)
  }

  public nonisolated static func __automaticallyNotifiesObservers(forKey key: String) -> Bool {
    KeyValueClassDescription.of(self).automaticallyNotifies(ofKey: key)
  }
}

/// `<Key>` in the names of methods about a key: only an ASCII letter is made upper case, as on Apple's platforms.
func capitalized(_ key: String) -> String {
  guard let first = key.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return key }
  return key.prefix(1).uppercased() + key.dropFirst()
}

extension KeyValueClass {
  /// Reports a key that is declared to affect itself, when it is observed. It is observed as if that were not declared.
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
      help: "a property need not be declared to affect itself; take \"\(own)\" out of what is declared for \"\(name)\"",
      site: site)
  }
}
