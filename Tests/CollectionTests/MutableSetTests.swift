// Mutations of sets and ordered sets through their proxies, and the resulting notifications.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Mutating a set through a proxy")
  struct MutableSetTests {
    let library = Library()
    let log = Log()

    /// Runs a mutation of a, b, c and returns the changes that an observer received.
    private func delivered(_ mutate: (KeyValueMutableSet<String>) -> Void) -> [String] {
      library.tags = ["a", "b", "c"]
      let token = library.log(\.tags, to: log)
      mutate(library.mutableSetValue(forKey: "tags", of: String.self))
      token.invalidate()
      return log.take()
    }

    @Test func `Proxies are equal if their members are, whatever the property is`() {
      let (first, second) = (Library(), Library())
      (first.tags, second.tags) = (["a", "b"], ["b", "a"])
      #expect(first.mutableSetValue(for: \.tags) == second.mutableSetValue(for: \.tags))
      second.tags = ["a"]
      #expect(first.mutableSetValue(for: \.tags) != second.mutableSetValue(for: \.tags))
    }

    @Test func `A union is an insertion of the members that were added`() {
      #expect(delivered { $0.insert("d") } == ["insertion ->{d}"])
      #expect(delivered { $0.formUnion(["a", "d", "e"]) } == ["insertion ->{d e}"])
      #expect(library.tags == ["a", "b", "c", "d", "e"])
    }

    @Test func `A removal and an intersection are a removal of the members that were removed`() {
      #expect(delivered { $0.remove("a") } == ["removal {a}>-"])
      #expect(delivered { $0.subtract(["a", "b", "x"]) } == ["removal {a b}>-"])
      #expect(delivered { $0.formIntersection(["a", "x"]) } == ["removal {b c}>-"])
      #expect(library.tags == ["a"])
      #expect(delivered { $0.removeAll() } == ["removal {a b c}>-"])
      #expect(library.tags.isEmpty)
    }

    @Test func `Setting and a symmetric difference are a replacement with removed and added members`() {
      #expect(delivered { $0.setSet(["c", "d"]) } == ["replacement {a b}>{d}"])
      #expect(library.tags == ["c", "d"])
      #expect(delivered { $0.formSymmetricDifference(["c", "d"]) } == ["replacement {c}>{d}"])
      #expect(library.tags == ["a", "b", "d"])
    }

    @Test func `A mutation that adds or removes nothing notifies with empty sets`() {
      #expect(delivered { $0.insert("a") } == ["insertion ->{}"])
      #expect(delivered { $0.remove("x") } == ["removal {}>-"])
      #expect(delivered { $0.setSet(["a", "b", "c"]) } == ["replacement {}>{}"])
    }

    @Test func `The return values are those of a set`() {
      library.tags = ["a"]
      let tags = library.mutableSetValue(for: \.tags)
      #expect(tags.insert("a") == (false, "a") && tags.insert("b") == (true, "b"))
      #expect(tags.remove("b") == "b" && tags.remove("b") == nil)
      #expect(tags.contains("a") && tags.count == 1 && !tags.isEmpty && Set(tags) == ["a"] && "\(tags)" == "[\"a\"]")
    }

    @Test func `The prior notification contains the removed members, but not the added ones`() {
      library.tags = ["a"]
      let token = library.log(\.tags, [.old, .new, .prior], to: log)
      let tags = library.mutableSetValue(for: \.tags)
      tags.insert("b")
      tags.remove("a")
      #expect(
        log.lines == ["prior insertion ->-", "insertion ->{b}", "prior removal {a}>-", "removal {a}>-"])
      token.invalidate()
    }

    @Test func `A classic observer receives the kind and sets without indexes; setting the property is a setting`() {
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "tags", options: [.old, .new])
      let tags = library.mutableSetValue(forKey: "tags")
      tags.insert("a")
      tags.setSet(["b"])
      tags.remove("b")
      library.tags = ["z"]
      #expect(log.lines == ["tags 2 ->{a}", "tags 4 {a}>{b}", "tags 3 {b}>-", "tags 1 {}>{z}"])
      library.removeObserver(recorder, forKeyPath: "tags")
    }

    @Test func `A proxy of a manual key mutates without notifying`() {
      let token = library.log(\.quietTags, to: log)
      library.mutableSetValue(for: \.quietTags).insert(1)
      #expect(log.lines.isEmpty && library.quietTags == [1])
      token.invalidate()
    }
  }

  @Suite("Mutating an ordered set through a proxy")
  struct MutableOrderedSetTests {
    let library = Library()
    let log = Log()

    private func delivered(_ mutate: (KeyValueMutableOrderedSet<String>) -> Void) -> [String] {
      library.ranks = ["a", "b", "c"]
      let token = library.log(\.ranks, to: log)
      mutate(library.mutableOrderedSetValue(forKey: "ranks", of: String.self))
      token.invalidate()
      return log.take()
    }

    @Test func `Insertions have indexes, and omit elements that are already contained`() {
      #expect(delivered { $0.append("d") } == ["insertion [3] ->[\"d\"]"])
      #expect(delivered { $0.append("a") }.isEmpty)
      #expect(delivered { $0.append(contentsOf: ["a", "d", "d", "e"]) } == ["insertion [3, 4] ->[\"d\", \"e\"]"])
      #expect(delivered { $0.insert("d", at: 0) } == ["insertion [0] ->[\"d\"]"])
      #expect(delivered { $0.insert(["x", "b", "y"], at: [0, 2, 4]) } == ["insertion [0, 4] ->[\"x\", \"y\"]"])
      #expect(library.ranks == ["x", "a", "b", "c", "y"])
      #expect(delivered { $0.insert(["a", "y"], at: [3, 4]) } == ["insertion [3] ->[\"y\"]"])
    }

    @Test func `Removals and replacements keep the elements distinct`() {
      #expect(delivered { $0.remove("b") } == ["removal [1] [\"b\"]>-"])
      #expect(delivered { $0.remove("x") }.isEmpty)
      #expect(delivered { $0.remove(at: [0, 2]) } == ["removal [0, 2] [\"a\", \"c\"]>-"])
      #expect(delivered { $0.formIntersection(["c", "a"]) } == ["removal [1] [\"b\"]>-"])
      #expect(delivered { $0.removeAll() } == ["removal [0, 1, 2] [\"a\", \"b\", \"c\"]>-"])
      #expect(delivered { $0.replace(at: 0, with: "x") } == ["replacement [0] [\"a\"]>[\"x\"]"])
      #expect(delivered { $0.replace(at: 0, with: "b") }.isEmpty)
      #expect(delivered { $0.exchange(0, 2) } == ["replacement [0, 2] [\"a\", \"c\"]>[\"c\", \"a\"]"])
      #expect(delivered { $0.setArray(["x", "x"]) }.last == "insertion [0] ->[\"x\"]")
      #expect(
        delivered { $0.move(fromOffsets: [0], toOffset: 3) }
          == ["replacement [0, 1, 2] [\"a\", \"b\", \"c\"]>[\"b\", \"c\", \"a\"]"])
      #expect(
        delivered { $0.sort(by: >) }
          == ["replacement [0, 2] [\"a\", \"c\"]>[\"c\", \"a\"]"])
      #expect(delivered { $0.reverse() } == ["replacement [0, 2] [\"a\", \"c\"]>[\"c\", \"a\"]"])
    }

    @Test func `An index whose new element is omitted keeps the present one, which stays distinct`() {
      #expect(
        delivered { $0.replace(at: [0, 1, 2], with: ["x", "x", "y"]) } == [
          "replacement [0, 2] [\"a\", \"c\"]>[\"x\", \"y\"]"
        ])
      #expect(library.ranks == ["x", "b", "y"])
      // The third index keeps "c", which the first one would have got.
      #expect(delivered { $0.replace(at: [0, 1, 2], with: ["c", "x", "x"]) } == ["replacement [1] [\"b\"]>[\"x\"]"])
      #expect(library.ranks == ["a", "x", "c"])
      #expect(delivered { $0.replace(at: [0, 1], with: ["b", "b"]) }.isEmpty)
      #expect(
        delivered { $0.replace(at: [0, 1], with: ["b", "a"]) }
          == ["replacement [0, 1] [\"a\", \"b\"]>[\"b\", \"a\"]"])
    }

    @Test
    func `After any mutation the elements are distinct, and an observer that applies the changes has the same ones`() {
      var random = Numbers()
      nonisolated(unsafe) var copy: [Int] = []
      let token = library.observe(\.numbers, options: [.old, .new]) { _, change in replay(change, on: &copy) }
      let numbers = library.mutableOrderedSetValue(for: \.numbers)
      for _ in 0..<3000 {
        let count = numbers.count
        let positions = (0..<count).filter { _ in random.next(2) == 0 }
        let elements = positions.map { _ in random.next(9) }
        switch random.next(8) {
        case 0: numbers.append(contentsOf: elements + [random.next(9)])
        case 1: numbers.insert(elements, at: IndexSet(positions))
        case 2: numbers.remove(at: IndexSet(positions.prefix(2)))
        case 3: if count > 1 { numbers.exchange(random.next(count), random.next(count)) }
        case 4: numbers.sort { $0 > $1 }
        case 5: numbers.setArray(elements)
        default:
          let expected = replacing(Array(numbers), at: positions, with: elements)
          numbers.replace(at: IndexSet(positions), with: elements)
          #expect(library.numbers == expected)
        }
        #expect(Set(library.numbers).count == library.numbers.count && copy == library.numbers)
      }
      token.invalidate()
    }

    @Test func `Elements of an NSOrderedSet are announced manually`() {
      let token = library.log(\.quietOrdered, to: log)
      library.willChange(.insertion, valuesAt: [1], forKey: "quietOrdered")
      library.quietOrdered = NSOrderedSet(array: ["a", "x"])
      library.didChange(.insertion, valuesAt: [1], forKey: "quietOrdered")
      library.willChange(.removal, valuesAt: [0], forKey: "quietOrdered")
      library.quietOrdered = NSOrderedSet(array: ["x"])
      library.didChange(.removal, valuesAt: [0], forKey: "quietOrdered")
      token.invalidate()
      #expect(log.lines == ["insertion [1] ->[\"x\"]", "removal [0] [\"a\"]>-"])
    }

    @Test func `A property may be an NSOrderedSet`() {
      let token = library.log(\.ordered, to: log)
      let ordered = library.mutableOrderedSetValue(forKey: "ordered", of: String.self)
      ordered.append(contentsOf: ["a", "b", "a"])
      ordered.insert("c", at: 1)
      ordered.remove("a")
      #expect(
        log.take() == ["insertion [0, 1] ->[\"a\", \"b\"]", "insertion [1] ->[\"c\"]", "removal [0] [\"a\"]>-"])
      #expect(library.ordered == NSOrderedSet(array: ["c", "b"]) && Array(ordered) == ["c", "b"])
      token.invalidate()
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "optionalOrdered", options: [.old, .new])
      library.optionalOrdered = ["a"]
      library.mutableOrderedSetValue(for: \.optionalOrdered, of: String.self).append("b")
      #expect(log.take() == ["optionalOrdered 1 <null>>[\"a\"]", "optionalOrdered 2 [1] ->[\"b\"]"])
      library.removeObserver(recorder, forKeyPath: "optionalOrdered")
    }
  }

  /// Pseudo-random numbers, the same ones in each run.
  private struct Numbers {
    private var state: UInt64 = 1

    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
  }

  /// Returns the elements after a replacement: new elements are omitted one by one until all are distinct.
  private func replacing(_ present: [Int], at positions: [Int], with elements: [Int]) -> [Int] {
    var new = Dictionary(uniqueKeysWithValues: zip(positions, elements))
    while true {
      let result = present.indices.map { new[$0] ?? present[$0] }
      let omitted = positions.first { position in
        new[position] != nil
          && result.indices.contains {
            $0 != position && result[$0] == result[position] && (new[$0] == nil || $0 < position)
          }
      }
      guard let omitted else { return result }
      new[omitted] = nil
    }
  }

  private func replay(_ change: NSKeyValueObservedChange<[Int]>, on elements: inout [Int]) {
    let indexes = change.indexes ?? []
    switch change.kind {
    case .setting: elements = change.newValue!
    case .insertion: for (index, element) in zip(indexes, change.newValue!) { elements.insert(element, at: index) }
    case .removal: for index in indexes.reversed() { elements.remove(at: index) }
    case .replacement: for (index, element) in zip(indexes, change.newValue!) { elements[index] = element }
    }
  }
#endif
