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
    ObserverCounts.add(address)
  }

  // Before the unowned reference is released.
  deinit { ObserverCounts.remove(address) }

  /// Returns the observer, or `nil` once its deinitialization has begun.
  final func loadObserver() -> (any KeyValueObserver)? {
    guard let retained = swift_tryRetain(address) else { return nil }
    defer { Unmanaged<AnyObject>.fromOpaque(retained).release() }
    return observer
  }

  /// Returns whether the deinitialization of an observer that `loadObserver` did not return has ended.
  ///
  /// Until then one more unowned reference is counted, which stands for the object's life. So it has ended if there are no more than
  /// the library's. If there are, unowned references of the program or of receivers, it may last, on this thread or another one.
  final func observerIsDeallocated() -> Bool { ObserverCounts.areOnly(address) }
}

/// How many unowned references to each observer are the library's: of boxes, and of `DeadReceivers`.
enum ObserverCounts {
  /// Several tables, so that threads that add different observers seldom wait for each other.
  private static let tables = (0..<64).map { _ in Guarded<[UnsafeMutableRawPointer: Int]>([:]) }

  private static func table(of address: UnsafeMutableRawPointer) -> Guarded<[UnsafeMutableRawPointer: Int]> {
    tables[Int(UInt(bitPattern: address) >> 4) % tables.count]
  }

  static func add(_ address: UnsafeMutableRawPointer) { table(of: address).withLock { $0[address, default: 0] += 1 } }

  static func remove(_ address: UnsafeMutableRawPointer) {
    table(of: address).withLock { counts in
      let count = counts[address, default: 0] - 1
      counts[address] = count > 0 ? count : nil
    }
  }

  /// Returns whether there are no other unowned references to an object. None is counted meanwhile.
  static func areOnly(_ address: UnsafeMutableRawPointer) -> Bool {
    table(of: address).withLock { swift_unownedRetainCount(address) <= $0[address, default: 0] }
  }
}
