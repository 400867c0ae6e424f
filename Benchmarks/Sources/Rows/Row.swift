// A row: one operation of ours, and the same by each peer that has it.

/// Does an operation as often as it is told.
public struct Workload {
  /// How many operations it can do at once: what it makes ready takes memory.
  public let limit: Int
  /// Makes ready for so many operations. It is not measured.
  public let prepare: (Int) -> Void
  /// Does so many operations, a multiple of four. A loop within, so that what is measured is not called through a closure.
  public let run: (Int) -> Void

  init(limit: Int = .max, prepare: @escaping (Int) -> Void = { _ in }, run: @escaping (Int) -> Void) {
    self.limit = limit
    self.prepare = prepare
    self.run = run
  }
}

/// One who does the same as we do.
public struct Peer {
  public enum Side {
    case here(() -> Workload)
    /// A row of a program in `Benchmarks/Peers`.
    case program(String, row: String)
  }

  public let name: String
  /// The highest ratio, ours to the peer's, that the project asks for.
  public let bar: Double?
  public let side: Side

  static func here(_ name: String, bar: Double? = nil, _ make: @escaping () -> Workload) -> Peer {
    Peer(name: name, bar: bar, side: .here(make))
  }

  static func qt(_ row: String, _ name: String, bar: Double? = nil) -> Peer {
    Peer(name: "Qt 6 \(name)", bar: bar, side: .program("qt", row: row))
  }

  static func glib(_ row: String, _ name: String, bar: Double? = nil) -> Peer {
    Peer(name: "GObject \(name)", bar: bar, side: .program("glib", row: row))
  }

  static func gnustep(_ row: String, _ name: String, bar: Double? = nil) -> Peer {
    Peer(name: "GNUstep \(name)", bar: bar, side: .program("gnustep", row: row))
  }
}

/// One operation of ours, with its peers.
public struct Row {
  public let name: String
  /// Who "we" are: the Swift layer or the C runtime alone.
  public let subject: String
  /// Makes the objects and observations that the operation needs; they live as long as what it returns.
  public let make: () -> Workload
  public let peers: [Peer]

  init(_ name: String, subject: String = "swift-kvo", _ make: @escaping () -> Workload, _ peers: Peer...) {
    self.name = name
    self.subject = subject
    self.make = make
    self.peers = peers
  }

  /// All rows, in the order of the table.
  public static var all: [Row] { counted + collections }

  /// Those of which a thousand operations can be counted.
  public static var counted: [Row] { unobserved + observed + paths + announced + lifetimes + trampolines }
}

/// A loop of four at a time. With one, how the loop itself happens to be aligned decides, where an operation takes a nanosecond.
@inline(__always)
func times(_ count: Int, _ operation: (Int) -> Void) {
  var index = 0
  while index < count {
    operation(index)
    operation(index + 1)
    operation(index + 2)
    operation(index + 3)
    index += 4
  }
}

/// What observers add to, so that nothing is optimised away. It has a cache line of its own, since threads have one each.
struct Tally: @unchecked Sendable {
  private let sum: UnsafeMutablePointer<Int>

  init() {
    sum = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128).bindMemory(to: Int.self, capacity: 1)
    sum.initialize(to: 0)
  }

  var value: Int { sum.pointee }

  func add(_ value: Int) { sum.pointee &+= value }
}
