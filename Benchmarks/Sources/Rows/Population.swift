// Rows: many observed objects, each set once in random order, when the caches are too small for all of them.

import KeyValueObserving

extension Row {
  static var populations: [Row] {
    [("1000", 1000), ("10 000", 10_000), ("100 000", 100_000), ("1 000 000", 1_000_000)].map { name, count in
      // A turn may take several walks or a part of one; the next turn continues where it ended.
      let isLargest = count == 1_000_000
      return Row(
        "observed set, each of \(name) objects once, random order", runs: 15, turnNanoseconds: 30e6,
        { walk(over: count) },
        .qt("walk-\(count)", "signal, 1 lambda, the same walk", bar: isLargest ? 0.5 : nil),
        .here("didSet that calls a list of 1 closure, the same walk", bar: isLargest ? 1.4 : nil) {
          walkOverHandwritten(count)
        },
        .glib("walk-\(count)", "notify::, 1 handler, the same walk", bar: isLargest ? 0.2 : nil))
    }
  }
}

// Each object is observed as soon as it is created, here and in the programs of the peers, so that what belongs together may be adjacent
// in memory.

/// Sets observed objects, each with one observation and its own closure.
private func walk(over count: Int) -> Workload {
  let tally = Tally()
  let (objects, tokens) = pairs(count) {
    let object = Observable()
    return (object, object.observe(\.number) { object, _ in tally.add(object.number) })
  }
  let walk = Walk(objects)
  return Workload { count in
    walk.visit(count) { set($0, $1) }
    withExtendedLifetime(tokens) {}
  }
}

private func walkOverHandwritten(_ count: Int) -> Workload {
  let tally = Tally()
  let objects = (0..<count).map { _ in
    let object = Handwritten()
    object.handlers.append { tally.add($1) }
    return object
  }
  let walk = Walk(objects)
  return Workload { count in
    walk.visit(count) { set($0, $1) }
  }
}

private func pairs<First, Second>(_ count: Int, _ make: () -> (First, Second)) -> ([First], [Second]) {
  var (firsts, seconds): ([First], [Second]) = ([], [])
  firsts.reserveCapacity(count)
  seconds.reserveCapacity(count)
  for _ in 0..<count {
    let (first, second) = make()
    firsts.append(first)
    seconds.append(second)
  }
  return (firsts, seconds)
}

/// Visits objects one after the other, again and again, in an order independent of their addresses.
private final class Walk<Object: AnyObject> {
  private let objects: [Object]
  /// Not retained, because reference counting is not part of the comparison.
  private let order: [Unmanaged<Object>]
  private var position = 0

  init(_ objects: [Object]) {
    self.objects = objects
    var generator = SplitMix64(state: 42)
    order = objects.map(Unmanaged.passUnretained).shuffled(using: &generator)
  }

  @inline(__always)
  func visit(_ count: Int, _ operation: (Object, Int) -> Void) {
    var position = position
    for index in 0..<count {
      order[position]._withUnsafeGuaranteedRef { operation($0, index) }
      position += 1
      if position == order.count { position = 0 }
    }
    self.position = position
  }
}

/// A generator with a fixed seed, for the same order in each run.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
