// A lock-free cache of `KeyValueClass` instances.

import Synchronization

/// A hash table of fixed size. Entries are never removed, so that readers need neither a lock nor a reference. A class that does
/// not fit is looked up in the table with the lock.
final class ClassTable: @unchecked Sendable {
  private static let size = 1024
  private static let probes = 8
  /// Addresses of `KeyValueClass` instances, which are never deallocated, or 0.
  private let table: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    table = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: Self.size)
    for index in 0..<Self.size { (table + index).initialize(to: Atomic(0)) }
  }

  private func place(_ type: ObjectIdentifier, _ probe: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    let address = UInt(bitPattern: type)
    return table + Int(((address >> 4) ^ (address >> 14) &+ UInt(probe)) & UInt(Self.size - 1))
  }

  func find(_ type: ObjectIdentifier) -> KeyValueClass? {
    for probe in 0..<Self.probes {
      guard let address = UnsafeRawPointer(bitPattern: place(type, probe).pointee.load(ordering: .acquiring)) else {
        return nil
      }
      let known = Unmanaged<KeyValueClass>.fromOpaque(address)
      if known._withUnsafeGuaranteedRef({ ObjectIdentifier($0.type) == type }) { return known.takeUnretainedValue() }
    }
    return nil
  }

  /// Adds a class, which must never be deallocated.
  func keep(_ type: ObjectIdentifier, _ cls: KeyValueClass) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(cls).toOpaque())
    for probe in 0..<Self.probes {
      let (isStored, found) = place(type, probe).pointee.compareExchange(
        expected: 0, desired: address, ordering: .acquiringAndReleasing)
      if isStored || found == address { return }
    }
  }
}
