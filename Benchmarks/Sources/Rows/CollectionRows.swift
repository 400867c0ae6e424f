// Rows: operations and notifications of collections, and paths with a common object.

import KeyValueObserving

extension Row {
  static var collections: [Row] {
    [
      Row("@sum over 10 000 objects", summing, .gnustep("sum", "key-value coding", bar: 0.5)),
      Row(
        "append to an array of 10 000 Int, with .collectionChanges", appendingNumbers,
        .here("didSet that compares from both ends", bar: 1.5, appendingNumbersByHand)),
      Row(
        "append to an array of 10 000 objects, with .collectionChanges", appendingObjects,
        .here("didSet that compares from both ends by identity", bar: 2, appendingObjectsByHand)),
      Row(
        "set of what 20 000 paths pass through", { replacingHub(paths: 20_000) },
        .here("the same with 1000", bar: 25) { replacingHub(paths: 1000) }),
    ]
  }
}

private let size = 10_000

@KeyValueObservable
final class Priced {
  var cost: Int
  init(_ cost: Int) { self.cost = cost }
}

@KeyValueObservable
private final class Basket {
  var items: [Priced] = (0..<size).map { Priced($0 & 255) }
}

private func summing() -> Workload {
  let (basket, tally) = (Basket(), Tally())
  return Workload { count in
    for _ in 0..<count { tally.add(basket.value(forKeyPath: "items.@sum.cost") as! Int) }
  }
}

// MARK: - Appending

@KeyValueObservable
private final class Numbers {
  var items: [Int] = []
}

private final class HandwrittenNumbers {
  let tally = Tally()
  var items: [Int] = [] {
    didSet {
      let shorter = min(oldValue.count, items.count)
      var (start, end) = (0, 0)
      while start < shorter, oldValue[start] == items[start] { start += 1 }
      while end < shorter - start, oldValue[oldValue.count - 1 - end] == items[items.count - 1 - end] { end += 1 }
      deliver(tally, start, Array(items[start..<items.count - end]))
    }
  }
}

private final class HandwrittenBasket {
  let tally = Tally()
  var items: [Priced] = [] {
    didSet {
      let shorter = min(oldValue.count, items.count)
      var (start, end) = (0, 0)
      while start < shorter, oldValue[start] === items[start] { start += 1 }
      while end < shorter - start, oldValue[oldValue.count - 1 - end] === items[items.count - 1 - end] { end += 1 }
      deliver(tally, start, Array(items[start..<items.count - end]))
    }
  }
}

/// The work of an observer that receives inserted elements.
@inline(never)
private func deliver(_ tally: Tally, _ position: Int, _ came: [some Any]) { tally.add(position &+ came.count) }

/// Begins each turn with an array of the given size, so that its size changes little.
private func appending(
  keeping others: Any = (), begin: @escaping () -> Void, append: @escaping (Int) -> Void
) -> Workload {
  Workload(limit: 400) { _ in
    begin()
  } run: { count in
    for index in 0..<count { append(index) }
    withExtendedLifetime(others) {}
  }
}

private func appendingNumbers() -> Workload {
  let (numbers, tally) = (Numbers(), Tally())
  let token = numbers.observe(\.items, options: [.new, .collectionChanges]) { _, change in
    deliver(tally, change.indexes?.first ?? 0, change.newValue ?? [])  // a removal has none
  }
  return appending(keeping: token) {
    numbers.items = Array(0..<size)
  } append: {
    numbers.items.append($0)
  }
}

private func appendingNumbersByHand() -> Workload {
  let numbers = HandwrittenNumbers()
  return appending {
    numbers.items = Array(0..<size)
  } append: {
    numbers.items.append($0)
  }
}

private func appendingObjects() -> Workload {
  let (basket, tally, objects) = (Basket(), Tally(), (0..<size).map { Priced($0) })
  let token = basket.observe(\.items, options: [.new, .collectionChanges]) { _, change in
    deliver(tally, change.indexes?.first ?? 0, change.newValue ?? [])  // a removal has none
  }
  return appending(keeping: token) {
    basket.items = objects
  } append: { _ in
    basket.items.append(objects[0])
  }
}

private func appendingObjectsByHand() -> Workload {
  let (basket, objects) = (HandwrittenBasket(), (0..<size).map { Priced($0) })
  return appending {
    basket.items = objects
  } append: { _ in
    basket.items.append(objects[0])
  }
}

// MARK: - Paths

/// Each path goes from a different object through the hub.
private func replacingHub(paths: Int) -> Workload {
  let (hub, leaves, tally) = (Owner(head: Observable()), [Observable(), Observable()], Tally())
  let roots = (0..<paths).map { _ in Station(hub) }
  let tokens = roots.map { $0.observe(\.hub.head.number, options: [.new]) { _, change in tally.add(change.newValue!) } }
  return Workload { count in
    for index in 0..<count { replaceHead(hub, leaves[index & 1]) }
    withExtendedLifetime((roots, tokens)) {}
  }
}

@KeyValueObservable
private final class Station {
  var hub: Owner
  init(_ hub: Owner) { self.hub = hub }
}
