// Which stored property a key path names, found without a lock for key paths that were looked up before.

import Synchronization

extension KeyValueObservable {
  /// The stored property that a key path names, if it is one's own key path and nothing else is declared to affect it.
  @usableFromInline
  nonisolated func directProperty(at keyPath: AnyKeyPath) -> KeyValueProperty? {
    let known = LookedUp(keyPath, Swift.type(of: self))
    if let found = known.find() { return found.property }
    let property = KeyValueClass.of(type: Self.self).property(at: keyPath)
    let isDirect = property.map { $0.isDirect && !KeyValueClass.of(self).isAffected($0.key) } ?? false
    known.keep(isDirect ? property : nil)
    return isDirect ? property : nil
  }
}

/// A key path and the class of the object that it was asked of.
///
/// The table has a fixed size and entries are never taken out, so that whoever reads one needs neither a lock nor a reference. What
/// finds no room is looked up each time.
private struct LookedUp {
  let keyPath: AnyKeyPath
  let type: ObjectIdentifier

  final class Entry {
    let keyPath: AnyKeyPath
    let type: ObjectIdentifier
    let property: KeyValueProperty?

    init(_ looked: LookedUp, _ property: KeyValueProperty?) {
      keyPath = looked.keyPath
      type = looked.type
      self.property = property
    }
  }

  private static let size = 1024
  private static let probes = 8
  /// Addresses of entries, or 0.
  private static nonisolated(unsafe) let table: UnsafeMutablePointer<Atomic<UInt>> = {
    let table = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: size)
    for index in 0..<size { (table + index).initialize(to: Atomic(0)) }
    return table
  }()

  init(_ keyPath: AnyKeyPath, _ type: any KeyValueObservable.Type) {
    self.keyPath = keyPath
    self.type = ObjectIdentifier(type)
  }

  /// Where the search begins: objects are 16 bytes apart at least.
  private var start: Int {
    let path = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
    return Int(truncatingIfNeeded: (path >> 4) ^ (path >> 14) ^ (UInt(bitPattern: type) >> 4))
  }

  private func place(_ probe: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    Self.table + ((start &+ probe) & (Self.size - 1))
  }

  func find() -> (property: KeyValueProperty?, Void)? {
    for probe in 0..<Self.probes {
      guard let entry = UnsafeRawPointer(bitPattern: place(probe).pointee.load(ordering: .acquiring)) else {
        return nil
      }
      let found: (KeyValueProperty?, Void)?? = Unmanaged<Entry>.fromOpaque(entry)._withUnsafeGuaranteedRef {
        $0.keyPath === keyPath && $0.type == type ? .some(($0.property, ())) : nil
      }
      if let found { return found }
    }
    return nil
  }

  func keep(_ property: KeyValueProperty?) {
    let entry = Unmanaged.passRetained(Entry(self, property))
    let address = UInt(bitPattern: entry.toOpaque())
    for probe in 0..<Self.probes {
      let exchange = place(probe).pointee.compareExchange(
        expected: 0, desired: address, ordering: .acquiringAndReleasing)
      if exchange.exchanged { return }
    }
    entry.release()
  }
}
