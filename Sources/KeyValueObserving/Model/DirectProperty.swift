// A lock-free cache of the property that a key path names.

import Synchronization

extension KeyValueObservable {
  /// Returns the stored property that a key path names, if it is the property's own key path and no other key is declared to affect
  /// it. It is not retained, because properties are never freed.
  @usableFromInline
  nonisolated func directProperty(at keyPath: AnyKeyPath) -> Unmanaged<KeyValueProperty>? {
    let known = named(by: keyPath)
    return known.isDirect ? known.property : nil
  }

  /// Returns the property of the object that a key path names.
  ///
  /// - Parameter isAnnounced: Whether the caller announces a change of the key path. The key path then certainly names a property,
  ///   and finding the one that it reads is sufficient.
  nonisolated func property(at keyPath: AnyKeyPath, isAnnounced: Bool = false) -> KeyValueProperty? {
    if let known = named(by: keyPath).property { return known.takeUnretainedValue() }
    return isAnnounced ? resolvedProperty(at: keyPath, isAnnounced: true) : nil
  }

  private nonisolated func named(by keyPath: AnyKeyPath) -> NamedProperty {
    let asked = LookedUp(keyPath, Swift.type(of: self))
    if let known = asked.find() { return known }
    let property = resolvedProperty(at: keyPath, isAnnounced: false)
    let cls = KeyValueClass.of(self)
    let isDirect = property.map { $0.isDirect && !cls.isAffected($0.key) && !cls.isSelfDependent($0.key) } ?? false
    let found = NamedProperty(property: property.map(Unmanaged.passUnretained), isDirect: isDirect)
    if !ClassesBeingDescribed.isAny { asked.keep(keyPath, found) }
    return found
  }
}

/// What a key path names. The property is never freed.
private struct NamedProperty {
  let property: Unmanaged<KeyValueProperty>?
  let isDirect: Bool
}

/// The result for a key path and a class. It is never freed and retains the key path, so that no other key path can get its
/// address.
private final class Known {
  let keyPath: AnyKeyPath
  let asked: LookedUp
  let named: NamedProperty

  init(_ keyPath: AnyKeyPath, _ asked: LookedUp, _ named: NamedProperty) {
    self.keyPath = keyPath
    self.asked = asked
    self.named = named
  }
}

/// The key of the cache: the address of a key path, and the class of the object.
///
/// The table has a fixed size and entries are never removed, so that readers need neither a lock nor a reference. A key path that
/// does not fit is looked up each time.
private struct LookedUp: Equatable {
  let keyPath: ObjectIdentifier
  let type: ObjectIdentifier

  private static let size = 1024
  private static let probes = 8
  /// Addresses of `Known` instances, or 0.
  private static nonisolated(unsafe) let table: UnsafeMutablePointer<Atomic<UInt>> = {
    let table = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: size)
    for index in 0..<size { (table + index).initialize(to: Atomic(0)) }
    return table
  }()

  init(_ keyPath: AnyKeyPath, _ type: any KeyValueObservable.Type) {
    self.keyPath = ObjectIdentifier(keyPath)
    self.type = ObjectIdentifier(type)
  }

  private func place(_ probe: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    // Objects are at least 16 bytes apart.
    let path = UInt(bitPattern: keyPath)
    let mixed = (path >> 4) ^ (path >> 14) ^ (UInt(bitPattern: type) >> 4)
    return Self.table + Int((mixed &+ UInt(probe)) & UInt(Self.size - 1))
  }

  func find() -> NamedProperty? {
    for probe in 0..<Self.probes {
      guard let known = UnsafeRawPointer(bitPattern: place(probe).pointee.load(ordering: .acquiring)) else {
        return nil
      }
      let found = Unmanaged<Known>.fromOpaque(known)
      if found._withUnsafeGuaranteedRef({ $0.asked == self }) { return found._withUnsafeGuaranteedRef { $0.named } }
    }
    return nil
  }

  func keep(_ keyPath: AnyKeyPath, _ named: NamedProperty) {
    let known = Unmanaged.passRetained(Known(keyPath, self, named))
    let address = UInt(bitPattern: known.toOpaque())
    for probe in 0..<Self.probes
    where place(probe).pointee.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing)
      .exchanged
    {
      return
    }
    known.release()
  }
}
