// Section M of Documentation/AppleCompatibility.md: sets and ordered sets.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Sets {
    var bag: Set<Int> = [1, 2]
    var ordered: [Int] = [10, 20]
    @NotObserved var hidden: Set<Int> = [1, 2]
    var computed: Set<Int> {
      get { bag }
      set { bag = newValue }
    }
  }

  @Suite("M. Sets and ordered sets")
  struct SectionM {
    private let sets = Sets()
    let w = Watcher()

    private var bag: KeyValueMutableSet<Int> { sets.mutableSetValue(forKey: "bag", of: Int.self) }
    private var ordered: KeyValueMutableOrderedSet<Int> { sets.mutableOrderedSetValue(forKey: "ordered", of: Int.self) }

    private func delivered(
      _ key: String = "bag", _ options: NSKeyValueObservingOptions = [.old, .new], _ body: () -> Void
    ) -> [String] {
      sets.add(w, key, options)
      body()
      sets.remove(w, key)
      return w.take()
    }

    @Test func `228: A union is an insertion of the added members, also if there are none`() {
      #expect(delivered { bag.formUnion([2, 3, 4]) } == ["w insertion ->{3 4}"])
      #expect(delivered { bag.formUnion([2]) } == ["w insertion ->{}"])
    }

    @Test func `229: A subtraction is a removal of the removed members, also if there are none`() {
      #expect(delivered { bag.subtract([2, 9]) } == ["w removal {2}>-"])
      #expect(delivered { bag.subtract([9]) } == ["w removal {}>-"])
    }

    @Test func `230: An intersection is a removal of the removed members`() {
      #expect(delivered { bag.formIntersection([2, 9]) } == ["w removal {1}>-"])
    }

    @Test func `231: Setting the members is a replacement, with the removed and the added members`() {
      #expect(delivered { bag.setSet([2, 3]) } == ["w replacement {1}>{3}"])
      #expect(sets.bag == [2, 3])
    }

    @Test func `232: Setting the property is a setting with whole sets`() {
      #expect(delivered { sets.bag = [5] } == ["w {1 2}>{5}"])
      #expect(delivered { sets.bag.insert(6) } == ["w {5}>{5 6}"])
    }

    @Test func `233: A change of a set has no indexes`() {
      _ = delivered {
        bag.insert(7)
        bag.remove(7)
        bag.setSet([1])
      }
      #expect(w.changes.count == 3 && w.changes.allSatisfy { $0[.indexesKey] == nil })
    }

    @Test func `234, 235: A manually announced mutation is computed from its argument at willChange`() {
      func announce(_ kind: NSKeyValueSetMutationKind, _ argument: Set<Int>) -> [String] {
        delivered("hidden") {
          sets.willChangeValue(forKey: "hidden", withSetMutation: kind, using: argument)
          sets.didChangeValue(forKey: "hidden", withSetMutation: kind, using: argument)
        }
      }
      #expect(announce(.union, [2, 3]) == ["w insertion ->{3}"])  // although nothing was added
      #expect(announce(.minus, [2, 3]) == ["w removal {2}>-"])
      #expect(announce(.intersect, [2, 3]) == ["w removal {1}>-"])
      #expect(announce(.set, [2, 3]) == ["w replacement {1}>{3}"])
    }

    @Test func `236: A prior notification has the removed members, and no added ones`() {
      let lines = delivered("bag", [.prior, .old, .new]) {
        bag.formUnion([3])
        bag.subtract([1])
      }
      #expect(lines == ["w insertion prior ->-", "w insertion ->{3}", "w removal prior {1}>-", "w removal {1}>-"])
    }

    @Test func `238, 240, 241: Each mutation is one notification, also if it changes no member`() {
      #expect(delivered { bag.insert(3) } == ["w insertion ->{3}"])
      #expect(delivered { bag.insert(3) } == ["w insertion ->{}"])
      #expect(delivered { bag.remove(3) } == ["w removal {3}>-"])
      #expect(delivered { bag.remove(3) } == ["w removal {}>-"])
      #expect(delivered { bag.removeAll() } == ["w removal {1 2}>-"])
    }

    @Test func `237: There is a mutable set proxy for every writable key, including computed ones`() {
      sets.mutableSetValue(forKey: "computed", of: Int.self).insert(9)
      #expect(sets.bag == [1, 2, 9])
    }

    @Test func `243: Ordered sets notify with ordered changes`() {
      #expect(delivered("ordered") { ordered.append(30) } == ["w insertion ->[30] at [2]"])
      #expect(delivered("ordered") { ordered.remove(at: 0) } == ["w removal [10]>- at [0]"])
      #expect(delivered("ordered") { ordered.replace(at: 0, with: 21) } == ["w replacement [20]>[21] at [0]"])
    }

    @Test func `244: Elements that the ordered set already contains are omitted from an insertion`() {
      #expect(delivered("ordered") { ordered.append(contentsOf: [10, 30]) } == ["w insertion ->[30] at [2]"])
      #expect(sets.ordered == [10, 20, 30])
    }
  }
#endif
