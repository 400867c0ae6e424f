// The components of a key path: finds the property if the compiler created a different accessor for it, as in generic code.

import CKVO

/// A component of a key path that is a property.
///
/// Swift has no API for the components of a key path. They are parsed from the debug description. It names a stored property, and gives the
/// getter and the type of a computed one: `\Note.author?.<computed 0x000055d0c3a81f40 (String)>?`.
struct KeyPathComponent {
  private static let mark = "<computed 0x"

  private enum Kind {
    case stored(Substring)
    case computed(getter: UInt, valueType: Substring)
  }
  private let kind: Kind
  /// What follows the component for optionals: any of "?" and "!".
  let marks: Substring

  /// Parses the beginning of what remains of a description; `behind` is what follows the component.
  private init?(_ text: Substring, behind: inout Substring) {
    let part = text.hasPrefix(Self.mark) ? text.dropFirst(Self.mark.count) : text[text.endIndex...]
    if !part.isEmpty {
      // A type may be a function that returns another one, and it may contain any of the characters.
      let end = part.firstRange(of: Self.mark)?.lowerBound ?? part.endIndex
      guard let typeBegin = part.firstRange(of: " ("), let typeEnd = part[..<end].ranges(of: ")>").last,
        typeBegin.upperBound <= typeEnd.lowerBound, let getter = UInt(part[..<typeBegin.lowerBound], radix: 16)
      else { return nil }
      kind = .computed(getter: getter, valueType: part[typeBegin.upperBound..<typeEnd.lowerBound])
      behind = part[typeEnd.upperBound...]
    } else {
      // An element of a tuple is printed as ".1".
      let name = text.drop { $0 == "." }.prefix { !".?!<".contains($0) }
      guard !name.isEmpty else { return nil }
      kind = .stored(text[..<name.endIndex])
      behind = text[name.endIndex...]
    }
    marks = behind.prefix { $0 == "?" || $0 == "!" }
    behind = behind.dropFirst(marks.count)
  }

  /// Returns the first components of a key path, up to one that is no property, and whether there is none.
  static func first(of keyPath: AnyKeyPath) -> (components: [KeyPathComponent], isAll: Bool) {
    let text = keyPath.debugDescription
    let head = "\\\(type(of: keyPath).rootType)."
    guard text.hasPrefix(head) else { return ([], false) }
    var (rest, components) = (text.dropFirst(head.count), [KeyPathComponent]())
    while let component = KeyPathComponent(rest, behind: &rest) {
      components.append(component)
      if rest.isEmpty { return (components, true) }
      guard rest.first == "." else { break }
      rest = rest.dropFirst()
    }
    return (components, false)
  }

  /// Returns a key path as reports print it: `selection.pid` for `\Table.<computed 0x000055d0c3a81f40 (Process?)>?.pid?`. In a
  /// stripped program the names of computed components are unknown, and it is the description.
  static func printedName(of keyPath: AnyKeyPath) -> String {
    let (components, isAll) = first(of: keyPath)
    let names = components.compactMap(\.name)
    guard isAll, names.count == components.count else { return keyPath.debugDescription }
    return names.joined(separator: ".").replacing("..", with: ".")
  }

  /// Returns the number of computed components of a key path.
  static func countComputed(in keyPath: AnyKeyPath) -> Int { keyPath.debugDescription.ranges(of: mark).count }

  /// Returns the getter of a key path that is one computed component.
  static func onlyGetter(of keyPath: AnyKeyPath) -> KeyPathComponent? {
    let (components, isAll) = first(of: keyPath)
    return isAll && components.count == 1 && components[0].getter != nil ? components[0] : nil
  }

  /// The address of the getter; `nil` for a stored property.
  var getter: UInt? {
    if case .computed(let getter, _) = kind { getter } else { nil }
  }

  /// Whether it reads a stored property, or calls a getter that is known to be one of the standard library or Foundation.
  var isPlain: Bool { getter.map { kvo_call_is_library(UnsafeRawPointer(bitPattern: $0 + 1)) } ?? true }

  /// Whether it may be this property of a class, as far as the description tells.
  func mayBe(_ property: KeyValueProperty) -> Bool {
    switch kind {
    case .stored(let name): name == property.declaredName
    case .computed(_, let valueType): valueType == "\(type(of: property.path).valueType)"
    }
  }

  /// The property's name, from that of the getter, such as `title` from `key path getter for HasTitle.title`; `nil` in a stripped program.
  var name: Substring? {
    if case .stored(let name) = kind { return name }
    guard let getter, let returnAddress = UnsafeRawPointer(bitPattern: getter + 1) else { return nil }
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
    guard let keyPath = keyPath as? PartialKeyPath<Self>, let accessor = KeyPathComponent.onlyGetter(of: keyPath) else {
      return nil
    }
    let candidates = cls.properties.filter { Swift.type(of: $0.path).valueType == Swift.type(of: keyPath).valueType }
    // A property with a private setter: outside its scope the key path is a different one with the same getter.
    if let same = candidates.first(where: { KeyPathComponent.onlyGetter(of: $0.path)?.getter == accessor.getter }) {
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
