// The observer of a classic observation: not retained, called only while it is alive, and known to be dead only when it is.

import CKVO
import CSwiftRuntime

/// A box that refers to a classic observer without retaining it.
///
/// It keeps the observer's memory allocated. So while the observation is registered no other object has the observer's address, by
/// which reports and removals identify it.
class ObserverBox: ObservationBox {
  /// Read only after `swift_tryRetain`, because a read traps if the observer is not alive.
  private unowned let observer: any KeyValueObserver
  private let address: UnsafeMutableRawPointer

  init(_ observer: any KeyValueObserver, deliver: @escaping Deliver) {
    self.observer = observer
    address = Unmanaged.passUnretained(observer as AnyObject).toOpaque()
    super.init(deliver: deliver)
    ObserverCounts.withCounts(of: address) { $0.add(address) }
  }

  // Before the unowned reference is released.
  deinit { ObserverCounts.withCounts(of: address) { $0.remove(address) } }

  /// Returns the observer, or `nil` once its deinitialization has begun.
  final func loadObserver() -> (any KeyValueObserver)? {
    guard let retained = swift_tryRetain(address) else { return nil }
    defer { Unmanaged<AnyObject>.fromOpaque(retained).release() }
    return observer
  }

  /// Returns whether the deinitialization of an observer that `loadObserver` did not return has ended.
  ///
  /// Until then one more unowned reference is counted, which stands for the object's life. So it has ended if there are no more than
  /// those of boxes. If there are, unowned references of the program or of receivers, it may last, on this thread or another one.
  final func observerIsDeallocated() -> Bool {
    ObserverCounts.withCounts(of: address) { swift_unownedRetainCount(address) <= $0[address] }
  }
}

/// How many boxes refer to each observer: a hash table with linear probing.
private struct ObserverCounts {
  private typealias Entry = (address: UnsafeMutableRawPointer?, count: Int)

  private var entries: UnsafeMutablePointer<Entry>
  /// A power of two.
  private var capacity: Int
  private var used = 0

  private init(capacity: Int) {
    self.capacity = capacity
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: (nil, 0), count: capacity)
  }

  /// The number of boxes of an observer.
  subscript(address: UnsafeMutableRawPointer) -> Int { entries[index(of: address)].count }

  mutating func add(_ address: UnsafeMutableRawPointer) {
    let entry = entries + index(of: address)
    if entry.pointee.count == 0 { used += 1 }
    entry.pointee = (address, entry.pointee.count + 1)
    if used * 2 > capacity { grow() }
  }

  mutating func remove(_ address: UnsafeMutableRawPointer) {
    var free = index(of: address)
    entries[free].count -= 1
    guard entries[free].count == 0 else { return }
    used -= 1
    // Entries that were probed past this one move up.
    var next = free
    while true {
      next = (next + 1) & (capacity - 1)
      guard let moved = entries[next].address else { break }
      guard (next &- Self.hash(moved)) & (capacity - 1) >= (next &- free) & (capacity - 1) else { continue }
      entries[free] = entries[next]
      free = next
    }
    entries[free] = (nil, 0)
  }

  /// The index of an observer's entry, or of the free one where it belongs.
  private func index(of address: UnsafeMutableRawPointer) -> Int {
    var index = Self.hash(address) & (capacity - 1)
    while let present = entries[index].address, present != address { index = (index + 1) & (capacity - 1) }
    return index
  }

  private mutating func grow() {
    let former = self
    self = Self(capacity: capacity * 2)
    used = former.used
    for entry in UnsafeBufferPointer(start: former.entries, count: former.capacity) {
      if let address = entry.address { entries[index(of: address)] = entry }
    }
    former.entries.deallocate()
  }

  private static func hash(_ address: UnsafeMutableRawPointer) -> Int {
    Int(bitPattern: (UInt(bitPattern: address) &* 0x9e37_79b9_7f4a_7c15) >> 20)
  }

  /// Several tables, so that threads that add different observers seldom wait for each other.
  private static let tableCount = 64
  private static nonisolated(unsafe) let tables: UnsafeMutablePointer<ObserverCounts> = {
    let tables = UnsafeMutablePointer<ObserverCounts>.allocate(capacity: tableCount)
    for index in 0..<tableCount { (tables + index).initialize(to: .init(capacity: 8)) }
    return tables
  }()
  private static nonisolated(unsafe) let locks: UnsafeMutablePointer<kvo_guard> = {
    let locks = UnsafeMutablePointer<kvo_guard>.allocate(capacity: tableCount)
    locks.initialize(repeating: kvo_guard(), count: tableCount)
    return locks
  }()

  static func withCounts<Result>(
    of address: UnsafeMutableRawPointer, _ body: (inout ObserverCounts) -> Result
  ) -> Result {
    let index = (UInt(bitPattern: address) >> 4) % UInt(tableCount)
    let lock = locks + Int(index)
    kvo_guard_lock(lock)
    defer { kvo_guard_unlock(lock) }
    return body(&tables[Int(index)])
  }
}
