// The memory that objects and observations allocate.

import KeyValueObserving
import Observation
import OpenCombine

/// A memory footprint, ours and a peer's.
public struct Footprint {
  public enum Bar {
    /// The maximum number of our bytes.
    case bytes(Double)
    /// The maximum difference between our bytes and the peer's.
    case added(Double)
  }

  /// Counts the bytes that a function allocates and does not free.
  public typealias Counter = (() -> Void) -> Int

  public let name: String
  public let against: String
  public let bar: Bar?
  /// Our bytes and the peer's, each per item.
  public let ours: (Counter) -> Double
  public let theirs: (Counter) -> Double

  private init(
    _ name: String, bar: Bar? = nil, _ ours: @escaping (Counter) -> Double, against: String,
    _ theirs: @escaping (Counter) -> Double
  ) {
    (self.name, self.against, self.bar, self.ours, self.theirs) = (name, against, bar, ours, theirs)
  }
}

// The handlers capture nothing, so that they take no memory. Tokens count as part of an observation.

extension Footprint {
  public static var all: [Footprint] {
    let first = "bytes of the first observation of an object, token included"
    let further = "bytes of a further observation of the same property, token included"
    return [
      Footprint(
        "bytes of an unobserved object", bar: .added(8), each({}) { Observable() }, against: "plain object",
        each({}) { Plain() }),
      Footprint(
        first, bar: .bytes(180), each(Observable.init) { $0.observe(\.number) { _, _ in } },
        against: "a closure in the list of didSet", each(Handwritten.init, addHandler)),
      Footprint(
        first, each(Observable.init) { $0.observe(\.number) { _, _ in } }, against: "@Observable, tracked",
        each(Observed.init, track)),
      Footprint(
        first, each(Observable.init) { $0.observe(\.number) { _, _ in } }, against: "OpenCombine @Published, sink",
        each(Published.init) { $0.$number.sink { _ in } }),
      Footprint(
        further, bar: .bytes(110), each(onceObserved) { $0.object.observe(\.number) { _, _ in } },
        against: "a closure in the list of didSet", each(handled, addHandler)),
      Footprint(
        further, each(onceObserved) { $0.object.observe(\.number) { _, _ in } },
        against: "OpenCombine @Published, sink",
        each(sunk) { $0.$number.sink { _ in } }),
      Footprint(
        "bytes of a further observation of another property, token included",
        each(onceObserved) { $0.object.observe(\.text) { _, _ in } }, against: "@Observable, tracked",
        each(Observed.init, track)),
      Footprint(
        "bytes that stay of an observation that ended, until the object dies", bar: .bytes(88),
        each(Observable.init, observeAndEnd), against: "OpenCombine @Published, sink", each(Published.init, sinkAndEnd)),
      Footprint(
        "bytes that stay of an observation anew", each(formerlyObserved, observeAndEnd),
        against: "OpenCombine @Published, sink", each(formerlySunk, sinkAndEnd)),
    ]
  }

  /// Returns the bytes per item, as the mean of many items, so that tables which grow in steps are shared by all.
  private static func each<Item>(
    _ make: @escaping () -> Item, _ work: @escaping (Item) -> AnyObject?
  ) -> (Counter) -> Double {
    { counter in
      let count = 10_000
      let items = (0..<count).map { _ in make() }
      var kept: [AnyObject?] = []
      kept.reserveCapacity(count)
      let bytes = counter {
        for item in items { kept.append(work(item)) }
      }
      withExtendedLifetime((items, kept)) {}
      return Double(bytes) / Double(count)
    }
  }
}

private func onceObserved() -> (object: Observable, token: NSKeyValueObservation) {
  let object = Observable()
  return (object, object.observe(\.number) { _, _ in })
}

private func formerlyObserved() -> Observable {
  let object = Observable()
  object.observe(\.number) { _, _ in }.invalidate()
  return object
}

private func observeAndEnd(_ object: Observable) -> AnyObject? {
  object.observe(\.number) { _, _ in }.invalidate()
  return nil
}

private func handled() -> Handwritten {
  let object = Handwritten()
  _ = addHandler(to: object)
  return object
}

private func addHandler(to object: Handwritten) -> AnyObject? {
  object.handlers.append { _, _ in }
  return nil
}

private func track(_ object: Observed) -> AnyObject? {
  withObservationTracking {
    _ = object.number
  } onChange: {
  }
  return nil
}

private nonisolated(unsafe) var tokens: [AnyCancellable] = []

private func sunk() -> Published {
  let object = Published()
  tokens.append(object.$number.sink { _ in })
  return object
}

private func formerlySunk() -> Published {
  let object = Published()
  _ = sinkAndEnd(object)
  return object
}

private func sinkAndEnd(_ object: Published) -> AnyObject? {
  object.$number.sink { _ in }.cancel()
  return nil
}
