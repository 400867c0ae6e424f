// The components of a key path: finds the property if the compiler created a different accessor for it, as in generic code.

import CKVO

/// A computed component of a key path.
///
/// Swift has no API for the components of a key path. They are parsed from the debug description: `\Note.<computed
/// 0x000055d0c3a81f40 (String)>`.
struct KeyPathComponent {
  private static let mark = "<computed 0x"

  /// The address of the component's getter.
  let getter: UInt
  /// The value type as Swift prints it.
  let valueType: Substring
  /// What follows the component for optionals: any of "?" and "!".
  let marks: Substring

  /// Parses what follows `mark` in a description, up to the next one; `behind` is what follows the component.
  private init?(_ part: Substring, behind: inout Substring) {
    guard let typeBegin = part.firstRange(of: " ("), let typeEnd = part.ranges(of: ")>").last,
      typeBegin.upperBound <= typeEnd.lowerBound, let getter = UInt(part[..<typeBegin.lowerBound], radix: 16)
    else { return nil }
    self.getter = getter
    valueType = part[typeBegin.upperBound..<typeEnd.lowerBound]
    behind = part[typeEnd.upperBound...]
    marks = behind.prefix { $0 == "?" || $0 == "!" }
  }

  /// Returns the components of a key path, or `nil` if one of them is a stored property.
  static func all(of keyPath: AnyKeyPath) -> [KeyPathComponent]? {
    let (components, isAll) = first(of: keyPath)
    return isAll ? components : nil
  }

  /// Returns the components of a key path before the first one that is a stored property, and whether there is none.
  static func first(of keyPath: AnyKeyPath) -> (components: [KeyPathComponent], isAll: Bool) {
    let text = keyPath.debugDescription
    let head = "\\\(type(of: keyPath).rootType)."
    guard text.hasPrefix(head + mark) else { return ([], false) }
    let parts = text.dropFirst(head.count).split(separator: mark)
    var components: [KeyPathComponent] = []
    for (index, part) in parts.enumerated() {
      var behind: Substring = ""
      guard let component = KeyPathComponent(part, behind: &behind) else { return (components, false) }
      components.append(component)
      // Components are separated by "?" and "!" for optionals.
      let isLast = index == parts.count - 1
      guard behind.dropFirst(component.marks.count) == (isLast ? "" : ".") else { return (components, false) }
    }
    return (components, true)
  }

  /// Returns a key path as reports print it: `selection.pid` for `\Table.<computed 0x000055d0c3a81f40 (Process?)>?.pid?`. In a
  /// stripped program the names of computed components are unknown, and it is the description.
  static func printedName(of keyPath: AnyKeyPath) -> String {
    let text = keyPath.debugDescription
    let head = "\\\(type(of: keyPath).rootType)."
    guard text.hasPrefix(head) else { return text }
    let parts = text.dropFirst(head.count).split(separator: mark, omittingEmptySubsequences: false)
    var printed = String(parts[0])
    for part in parts.dropFirst() {
      var behind: Substring = ""
      guard let name = KeyPathComponent(part, behind: &behind)?.name else { return text }
      printed += name + behind
    }
    return printed.filter { $0 != "?" && $0 != "!" }
  }

  /// Returns the number of computed components of a key path.
  static func count(in keyPath: AnyKeyPath) -> Int { parts(of: keyPath).count }

  /// Returns the computed components of a key path, including those behind stored properties; `nil` if one cannot be parsed.
  static func computed(in keyPath: AnyKeyPath) -> [KeyPathComponent]? {
    let parts = parts(of: keyPath)
    var behind: Substring = ""
    let components = parts.compactMap { KeyPathComponent($0, behind: &behind) }
    return components.count == parts.count ? components : nil
  }

  private static func parts(of keyPath: AnyKeyPath) -> ArraySlice<Substring> {
    keyPath.debugDescription.split(separator: mark).dropFirst()
  }

  /// Returns the component of a key path that has only one.
  static func only(of keyPath: AnyKeyPath) -> KeyPathComponent? {
    all(of: keyPath).flatMap { $0.count == 1 ? $0[0] : nil }
  }

  /// Whether the getter is known to be one of the standard library or Foundation.
  var isLibrary: Bool { kvo_call_is_library(UnsafeRawPointer(bitPattern: getter + 1)) }

  /// The name of the getter's property, such as `title` from `key path getter for HasTitle.title`; `nil` in a stripped program.
  var name: Substring? {
    guard let returnAddress = UnsafeRawPointer(bitPattern: getter + 1) else { return nil }
    let call = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
      kvo_call_format(returnAddress, buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
    guard let getter = call.firstRange(of: "key path getter for ") else { return nil }
    return call[getter.upperBound...].prefix { $0 != " " }.split(separator: ".").last
  }
}

extension KeyValueObservable {
  /// Finds the property of the object that a key path names; `property(at:isAnnounced:)` keeps the result.
  nonisolated func resolvedProperty(at keyPath: AnyKeyPath, isAnnounced: Bool) -> KeyValueProperty? {
    let (cls, own) = (KeyValueClass.of(type: Self.self), KeyValueClass.of(self))
    let found =
      cls.property(at: keyPath) ?? own.property(at: keyPath)
      ?? (isAnnounced ? cls.announcedPaths : cls.resolvedPaths).value(for: keyPath) {
        property(byAccessorOf: keyPath, cls, own, isAnnounced)
      }
    return found.map(own.renamed)
  }

  /// - Parameters:
  ///   - cls: The static class, of which a property is returned.
  ///   - own: The class of this object, which determines the keys of the reads.
  private nonisolated func property(
    byAccessorOf keyPath: AnyKeyPath, _ cls: KeyValueClass, _ own: KeyValueClass, _ isAnnounced: Bool
  ) -> KeyValueProperty? {
    guard let keyPath = keyPath as? PartialKeyPath<Self>, let accessor = KeyPathComponent.only(of: keyPath) else {
      return nil
    }
    let candidates = cls.properties.filter { Swift.type(of: $0.path).valueType == Swift.type(of: keyPath).valueType }
    // A property with a private setter: outside its scope the key path is a different one with the same getter.
    if let same = candidates.first(where: { KeyPathComponent.only(of: $0.path)?.getter == accessor.getter }) {
      return same
    }
    // A protocol requirement, or a superclass's property: the property of that name. The linker may merge getters, so the name alone
    // is not proof.
    if let name = accessor.name, let named = candidates.first(where: { $0.name == name }) {
      if let own = named.path as? PartialKeyPath<Self> { return reads(of: own) == reads(of: keyPath) ? named : nil }
      // A superclass's: for a subclass's key path an optimised program has an accessor of its own.
      if reads(of: keyPath) == [Read(__keyValueObject, own.renamed(named).key)] { return named }
    }
    // In a stripped program the name is not known. A known one that no property has is that of a member of an extension, which is no key.
    guard isAnnounced, accessor.name.map({ name in cls.properties.contains { $0.declaredName == name } }) ?? true else {
      return nil
    }
    let reads = reads(of: keyPath)
    return reads.count == 1
      ? candidates.first { $0.isDirect && reads[0] == Read(__keyValueObject, own.renamed($0).key) } : nil
  }

  private nonisolated func reads(of keyPath: PartialKeyPath<Self>) -> [Read] {
    var found: [Read] = []
    PathProbe(self, keyPath) { reads in
      found = reads.map { Read($0.object, $0.keyValueProperty?.key) }
    }.run(SourceLocation(file: #fileID, line: #line))
    return found
  }
}

/// A property read by an evaluation.
private struct Read: Equatable {
  let object: KeyValueObjectReference?
  let key: UInt64?

  init(_ object: KeyValueObjectReference?, _ key: UInt64?) {
    self.object = object
    self.key = key
  }
}
