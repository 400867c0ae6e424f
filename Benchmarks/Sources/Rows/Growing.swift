// Operations whose cost grows with the number of elements, counted at n and at 4n by scripts/check-scaling.sh.

import Foundation
import KeyValueObserving

/// An operation on a number of elements.
public struct Growing {
  public let name: String
  /// Prepares the elements and returns the operation.
  public let make: (_ count: Int) -> () -> Void

  init(_ name: String, _ make: @escaping (_ count: Int) -> () -> Void) {
    self.name = name
    self.make = make
  }

  public static var all: [Growing] { collectionChanges + throughProxies + keyPathReads + declared + ends }

  // MARK: - Ends

  private static var ends: [Growing] {
    [
      Growing("end n bindings into one property, each by its token") { count in
        let (shop, sources) = (Shop(0), (0..<count).map { _ in Shop(0) })
        let tokens = sources.map { $0.source(\.numbers).bind(to: shop, \.numbers) }
        return {
          for token in tokens { token.invalidate() }
          withExtendedLifetime(shop) {}
        }
      },
      Growing("stop n receivers of one object, each by itself") { count in
        let (shop, receivers) = (Shop(0), (0..<count).map { Ware($0) })
        for receiver in receivers { shop.onChange(of: \.numbers, for: receiver) { _, _, _ in } }
        return { for receiver in receivers { shop.stopObserving(for: receiver) } }
      },
    ]
  }

  // MARK: - .collectionChanges

  private static var collectionChanges: [Growing] {
    [
      Growing("append to n, told with .collectionChanges", following { $0.append(1) }),
      Growing("sort n, told with .collectionChanges", following { $0.sort() }),
      Growing(
        "replace every other of n, told with .collectionChanges",
        following { items in
          for index in stride(from: 0, to: items.count, by: 2) { items[index] = -1 }
        }),
      Growing("append to n objects, told with .collectionChanges") { count in
        let shop = Shop(count)
        let token = shop.observe(\.items, options: [.old, .new, .collectionChanges]) { _, _ in }
        return {
          shop.items.append(Ware(1))
          withExtendedLifetime(token) {}
        }
      },
      Growing("insert into a set of n, told with .collectionChanges") { count in
        let shop = Shop(count)
        let token = shop.observe(\.tags, options: [.old, .new, .collectionChanges]) { _, _ in }
        return {
          shop.tags.insert(-1)
          withExtendedLifetime(token) {}
        }
      },
    ]
  }

  /// An operation that makes one change of an array of `Int`.
  private static func following(_ change: @escaping (inout [Int]) -> Void) -> (Int) -> () -> Void {
    { count in
      let shop = Shop(count)
      let token = shop.observe(\.numbers, options: [.old, .new, .collectionChanges]) { _, _ in }
      return {
        change(&shop.numbers)
        withExtendedLifetime(token) {}
      }
    }
  }

  // MARK: - Proxies

  private static var throughProxies: [Growing] {
    [
      Growing(
        "n elements appended through a handle",
        handling { handle, count in
          for index in 0..<count { handle.append(index) }
        }),
      Growing("n elements sorted through a handle", handling { handle, _ in handle.sort() }),
      Growing(
        "n elements removed by a condition through a handle",
        handling { handle, _ in
          handle.removeAll { $0.isMultiple(of: 2) }
        }),
      Growing(
        "n elements moved through a handle",
        handling { handle, count in
          handle.move(fromOffsets: IndexSet(stride(from: 0, to: count, by: 2)), toOffset: count)
        }),
      Growing("n members inserted into a set through a handle") { count in
        let shop = Shop(0)
        let token = shop.observe(\.tags, options: [.old, .new]) { _, _ in }
        let handle = shop.mutableSetValue(for: \.tags)
        return {
          for index in 0..<count { handle.insert(index) }
          withExtendedLifetime(token) {}
        }
      },
      Growing("n elements of an ordered set united with n others through a handle") { count in
        let shop = Shop(count)
        let token = shop.observe(\.numbers, options: [.old, .new]) { _, _ in }
        let handle = shop.mutableOrderedSetValue(for: \.numbers)
        return {
          handle.formUnion(count..<2 * count)
          withExtendedLifetime(token) {}
        }
      },
    ]
  }

  private static func handling(_ change: @escaping (KeyValueMutableArray<Int>, Int) -> Void) -> (Int) -> () -> Void {
    { count in
      let shop = Shop(count)
      let token = shop.observe(\.numbers, options: [.old, .new]) { _, _ in }
      let handle = shop.mutableArrayValue(for: \.numbers)
      return {
        change(handle, count)
        withExtendedLifetime(token) {}
      }
    }
  }

  // MARK: - Key-value coding

  private static var keyPathReads: [Growing] {
    [
      "items.@sum.cost", "items.@avg.cost", "items.@max.cost", "items.@distinctUnionOfObjects.cost",
      "items.@unionOfObjects.name", "items.@sum.name", "items.cost", "tags.@sum.self",
    ].map { path in
      Growing("\(path) of n") { count in
        let shop = Shop(count)
        return { _ = shop.value(forKeyPath: path) }
      }
    }
  }

  // MARK: - Dependencies

  private static var declared: [Growing] {
    [
      Growing("observe what n elements are declared to affect") { count in
        let shop = Shop(count)
        return { shop.observe(\.price) { _, _ in }.invalidate() }
      },
      Growing("set one of n elements that are declared to affect a key") { count in
        let shop = Shop(count)
        let token = shop.observe(\.price) { _, _ in }
        return {
          shop.items[count / 2].cost = -1
          withExtendedLifetime(token) {}
        }
      },
      Growing("observe items.@sum.cost of n") { count in
        let (shop, observer) = (Shop(count), Unmoved())
        return {
          shop.addObserver(observer, forKeyPath: "items.@sum.cost", options: [.new])
          shop.removeObserver(observer, forKeyPath: "items.@sum.cost")
        }
      },
    ]
  }
}

@KeyValueObservable
private final class Ware {
  var cost: Int
  var name: String
  init(_ cost: Int) {
    self.cost = cost
    name = "\(cost).5"
  }
}

@KeyValueObservable
private final class Shop {
  var items: [Ware]
  var numbers: [Int]
  var tags: Set<Int>
  var price: Int { 0 }
  static var keyPathsForValuesAffectingPrice: Set<String> { ["items.cost"] }

  init(_ count: Int) {
    // In no particular order.
    let numbers = (0..<count).map { $0 &* 7919 % max(count, 1) }
    self.numbers = numbers
    items = numbers.map { Ware($0) }
    tags = Set(numbers)
  }
}

private final class Unmoved: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {}
}
