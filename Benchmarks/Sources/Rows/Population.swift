// Many objects, each set once in random order: the cost of a set when the caches are too small for all of them.

import KeyValueObserving

/// Objects that are visited in an order independent of their addresses.
public struct Population {
  /// The numbers of objects that are compared with `Population.small`.
  public static let counts = [10_000, 100_000, 1_000_000]
  public static let small = 1000

  /// Sets each object once.
  public let walk: () -> Void

  /// Returns observed objects, each with one observation and its own closure.
  public static func observed(count: Int) -> Population {
    let (objects, tally) = ((0..<count).map { _ in Observable() }, Tally())
    let tokens = objects.map { $0.observe(\.number) { object, _ in tally.add(object.number) } }
    let order = shuffled(objects)
    return Population {
      for (index, object) in order.enumerated() { object._withUnsafeGuaranteedRef { set($0, index) } }
      withExtendedLifetime((objects, tokens)) {}
    }
  }

  /// Returns plain objects for the same walk.
  public static func plain(count: Int) -> Population {
    let objects = (0..<count).map { _ in Plain() }
    let order = shuffled(objects)
    return Population {
      for (index, object) in order.enumerated() { object._withUnsafeGuaranteedRef { set($0, index) } }
      withExtendedLifetime(objects) {}
    }
  }
}

/// Returns the objects in random order. They are not retained, because reference counting is not part of the comparison.
private func shuffled<Object>(_ objects: [Object]) -> [Unmanaged<Object>] {
  var generator = SplitMix64(state: 42)
  return objects.map(Unmanaged.passUnretained).shuffled(using: &generator)
}

/// A generator with a fixed seed, for the same order in each run.
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
