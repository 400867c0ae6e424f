// A row: one operation of ours, and the same operation of each peer that has it.

/// An operation that can be repeated.
public struct Workload {
  /// The maximum number of operations in one run, because prepared operations take memory.
  public let limit: Int
  /// The number of operations in each run, if it is fixed; otherwise as many as take the duration of a turn.
  public let exactly: Int?
  /// Prepares a number of operations. This is not measured.
  public let prepare: (Int) -> Void
  /// Runs a number of operations, a multiple of four. The loop is inside, so that the measured operation is not called through a
  /// closure.
  public let run: (Int) -> Void

  init(
    limit: Int = .max, exactly: Int? = nil, prepare: @escaping (Int) -> Void = { _ in }, run: @escaping (Int) -> Void
  ) {
    self.limit = limit
    self.exactly = exactly
    self.prepare = prepare
    self.run = run
  }
}

/// An implementation to compare with.
public struct Peer {
  public enum Side {
    case here(() -> Workload)
    /// A row of a program in `Benchmarks/Peers`.
    case program(String, row: String)
  }

  public let name: String
  /// The maximum ratio of our cost to the peer's that the project requires.
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
  /// The measured library: the Swift layer or the C runtime alone.
  public let subject: String
  /// Creates the objects and observations that the operation needs; the result retains them.
  public let make: () -> Workload
  public let peers: [Peer]
  /// The number of turns of each side.
  public let runs: Int
  /// The duration of a turn. It is short, so that consecutive turns of both sides run under the same conditions.
  public let turnNanoseconds: Double

  init(
    _ name: String, subject: String = "swift-kvo", runs: Int = 31, turnNanoseconds: Double = 7e6,
    _ make: @escaping () -> Workload, _ peers: Peer...
  ) {
    self.name = name
    self.subject = subject
    self.runs = runs
    self.turnNanoseconds = turnNanoseconds
    self.make = make
    self.peers = peers
  }

  /// All rows in the order of the table.
  public static var all: [Row] { counted + numbers + deliveries + collections + populations + tables + forms }

  /// The rows for which a thousand operations can be counted.
  public static var counted: [Row] {
    unobserved + observed + paths + announced + lifetimes + trampolines + everyday + bindings
  }
}

/// A loop that is unrolled four times. Otherwise the alignment of the loop would determine the result of operations that take a
/// nanosecond.
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

/// A sum that observers add to, so that their calls are not optimized away. It has a cache line of its own, because each thread has
/// one.
struct Tally: @unchecked Sendable {
  private let sum: UnsafeMutablePointer<Int>

  init() {
    sum = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128).bindMemory(to: Int.self, capacity: 1)
    sum.initialize(to: 0)
  }

  var value: Int { sum.pointee }

  func add(_ value: Int) { sum.pointee &+= value }
  func set(_ value: Int) { sum.pointee = value }
}
