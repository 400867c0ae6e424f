// What is known of a class, found without a lock.

import Synchronization

/// A table of a fixed size from which nothing is ever taken out, so that whoever reads it needs neither a lock nor a reference. A class
/// that finds no room is looked up where all are.
final class ClassTable: @unchecked Sendable {
  private static let size = 1024
  private static let probes = 8
  /// Addresses of `KeyValueClass`, which live for ever, or 0.
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

  /// The class is one that lives for ever.
  func keep(_ type: ObjectIdentifier, _ cls: KeyValueClass) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(cls).toOpaque())
    for probe in 0..<Self.probes {
      let (isStored, found) = place(type, probe).pointee.compareExchange(
        expected: 0, desired: address, ordering: .acquiringAndReleasing)
      if isStored || found == address { return }
    }
  }
}
