// Many objects, each set once in random order: what a set costs when caches do not hold them all.

import KeyValueObserving

/// Objects that are walked in an order that has nothing to do with their addresses.
public struct Population {
  /// The numbers of objects that are compared with `Population.small`.
  public static let counts = [10_000, 100_000, 1_000_000]
  public static let small = 1000

  /// Sets each object once.
  public let walk: () -> Void

  /// Each with one observation and one closure of its own.
  public static func observed(count: Int) -> Population {
    let (objects, tally) = ((0..<count).map { _ in Observable() }, Tally())
    let tokens = objects.map { $0.observe(\.number) { object, _ in tally.add(object.number) } }
    let order = shuffled(objects)
    return Population {
      for (index, object) in order.enumerated() { object._withUnsafeGuaranteedRef { set($0, index) } }
      withExtendedLifetime((objects, tokens)) {}
    }
  }

  /// The same walk over plain objects.
  public static func plain(count: Int) -> Population {
    let objects = (0..<count).map { _ in Plain() }
    let order = shuffled(objects)
    return Population {
      for (index, object) in order.enumerated() { object._withUnsafeGuaranteedRef { set($0, index) } }
      withExtendedLifetime(objects) {}
    }
  }
}

/// Not retained, since counting is no part of the comparison.
private func shuffled<Object>(_ objects: [Object]) -> [Unmanaged<Object>] {
  var generator = SplitMix64(state: 42)
  return objects.map(Unmanaged.passUnretained).shuffled(using: &generator)
}

/// The same order in each run.
private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
