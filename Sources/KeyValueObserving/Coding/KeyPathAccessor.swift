// Which property a key path names for which the compiler made another accessor: in generic code, or where the setter is private.

import CKVO

/// What a key path of one computed component calls.
///
/// Key paths have no interface for this. Their debug description has it: `\Note.<computed 0x000055d0c3a81f40 (String)>`.
struct KeyPathAccessor {
  private static let mark = "<computed 0x"

  /// The getter's address.
  let address: UInt

  /// `nil` for a key path of several components or of a stored one.
  init?(_ keyPath: AnyKeyPath) {
    let type = Swift.type(of: keyPath)
    let head = "\\\(type.rootType).\(Self.mark)"
    let tail = " (\(type.valueType))>"
    let text = keyPath.debugDescription
    guard text.hasPrefix(head), text.hasSuffix(tail),
      let address = UInt(text.dropFirst(head.count).dropLast(tail.count), radix: 16)
    else { return nil }
    self.address = address
  }

  /// How many components of a key path are computed.
  static func count(in keyPath: AnyKeyPath) -> Int { keyPath.debugDescription.split(separator: mark).count - 1 }

  /// The property that the getter is for, such as `title` of `key path getter for HasTitle.title`; `nil` in a stripped program.
  var name: Substring? {
    guard let returnAddress = UnsafeRawPointer(bitPattern: address + 1) else { return nil }
    let call = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
      kvo_call_format(returnAddress, buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
    guard let getter = call.firstRange(of: "key path getter for ") else { return nil }
    return call[getter.upperBound...].prefix { $0 != " " }.split(separator: ".").last
  }
}

extension KeyValueObservable {
  /// The property of the object that a key path names.
  ///
  /// - Parameter isAnnounced: It names one for certain: its change is announced. What it reads then suffices.
  nonisolated func property(at keyPath: AnyKeyPath, isAnnounced: Bool = false) -> KeyValueProperty? {
    let cls = KeyValueClass.of(type: Self.self)
    if let known = cls.property(at: keyPath) { return known }
    let own = KeyValueClass.of(self)
    return own.property(at: keyPath) ?? cls.resolved(keyPath) { property(byAccessorOf: keyPath, cls, isAnnounced) }
  }

  private nonisolated func property(
    byAccessorOf keyPath: AnyKeyPath, _ cls: KeyValueClass, _ isAnnounced: Bool
  ) -> KeyValueProperty? {
    guard let keyPath = keyPath as? PartialKeyPath<Self>, let accessor = KeyPathAccessor(keyPath) else { return nil }
    let candidates = cls.properties.filter { Swift.type(of: $0.path).valueType == Swift.type(of: keyPath).valueType }
    // A private setter: outside, the key path is another, of the same getter.
    if let same = candidates.first(where: { KeyPathAccessor($0.path)?.address == accessor.address }) { return same }
    // A requirement of a protocol: the property of that name. The linker may have merged getters, so that the name alone proves nothing.
    if let name = accessor.name, let named = candidates.first(where: { $0.name == name }),
      let own = named.path as? PartialKeyPath<Self>
    {
      return reads(of: own) == reads(of: keyPath) ? named : nil
    }
    guard isAnnounced else { return nil }
    let reads = reads(of: keyPath)
    return reads.count == 1 ? candidates.first { $0.isDirect && reads[0] == Read(__keyValueObject, $0.key) } : nil
  }

  private nonisolated func reads(of keyPath: PartialKeyPath<Self>) -> [Read] {
    var found: [Read] = []
    PathProbe(self, keyPath) { reads in
      found = reads.map { Read($0.object, $0.keyValueProperty?.key) }
    }.run(ObservationSite(file: #fileID, line: #line))
    return found
  }
}

/// A property that an evaluation read.
private struct Read: Equatable {
  let object: KeyValueObjectReference?
  let key: UInt64?

  init(_ object: KeyValueObjectReference?, _ key: UInt64?) {
    self.object = object
    self.key = key
  }
}
