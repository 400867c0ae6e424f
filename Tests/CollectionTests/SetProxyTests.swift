// Mutations of sets and ordered sets through their proxies, and the resulting notifications.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Mutating a set through a proxy")
  struct SetProxyTests {
    let library = Library()
    private typealias Proxy = KeyValueMutableSet<String>

    @Test func `Each mutation is one change with the members that were added and removed, also if there are none`() {
      let rows: [(mutate: (Proxy) -> Void, change: String, members: Set<String>)] = [
        ({ $0.insert("d") }, "insertion ->{d}", ["a", "b", "c", "d"]),
        ({ $0.insert("a") }, "insertion ->{}", ["a", "b", "c"]),
        ({ $0.formUnion(["a", "d", "e"]) }, "insertion ->{d e}", ["a", "b", "c", "d", "e"]),
        ({ $0.remove("a") }, "removal {a}>-", ["b", "c"]),
        ({ $0.remove("x") }, "removal {}>-", ["a", "b", "c"]),
        ({ $0.subtract(["a", "b", "x"]) }, "removal {a b}>-", ["c"]),
        ({ $0.formIntersection(["a", "x"]) }, "removal {b c}>-", ["a"]),
        ({ $0.removeAll() }, "removal {a b c}>-", []),
        ({ $0.setSet(["c", "d"]) }, "replacement {a b}>{d}", ["c", "d"]),
        ({ $0.formSymmetricDifference(["c", "d"]) }, "replacement {c}>{d}", ["a", "b", "d"]),
      ]
      for (mutate, change, members) in rows {
        library.tags = ["a", "b", "c"]
        library.labels = ["a", "b", "c"]
        #expect(
          library.changes(of: \.tags) { mutate(library.mutableSetValue(forKey: "tags", of: String.self)) } == [change])
        #expect(library.changes(of: \.labels) { mutate(library.mutableSetValue(for: \.labels)) } == [change])
        #expect(library.tags == members && library.labels == members, "\(change)")
      }
    }

    @Test func `The return values are those of a set, and proxies with the same members are equal`() {
      library.tags = ["a"]
      let tags = library.mutableSetValue(for: \.tags)
      #expect(tags.insert("a") == (false, "a") && tags.insert("b") == (true, "b"))
      #expect(tags.remove("b") == "b" && tags.remove("b") == nil)
      #expect(tags.contains("a") && tags.count == 1 && !tags.isEmpty && Set(tags) == ["a"])
      let other = Library()
      other.tags = ["a"]
      #expect(tags == other.mutableSetValue(for: \.tags))
      other.tags = ["b"]
      #expect(tags != other.mutableSetValue(for: \.tags))
    }
  }

  @Suite("Mutating an ordered set through a proxy")
  struct OrderedSetProxyTests {
    let library = Library()
    private typealias Proxy = KeyValueMutableOrderedSet<String>

    @Test func `Mutations are ordered changes that keep the elements distinct`() {
      let rows: [(mutate: (Proxy) -> Void, change: String?)] = [
        ({ $0.append("d") }, "insertion [3] d"), ({ $0.append("a") }, nil),
        ({ $0.append(contentsOf: ["a", "d", "d", "e"]) }, "insertion [3, 4] d e"),
        ({ $0.insert("d", at: 0) }, "insertion [0] d"),
        ({ $0.insert(["x", "b", "y"], at: [0, 2, 4]) }, "insertion [0, 4] x y"),
        ({ $0.insert(["a", "y"], at: [3, 4]) }, "insertion [3] y"),
        ({ $0.formUnion(["c", "d", "a", "e"]) }, "insertion [3, 4] d e"),
        ({ $0.remove("b") }, "removal [1] b"), ({ $0.remove("x") }, nil), ({ $0.removeLast() }, "removal [2] c"),
        ({ $0.remove(at: [0, 2]) }, "removal [0, 2] a c"), ({ $0.removeAll { $0 < "c" } }, "removal [0, 1] a b"),
        ({ $0.formIntersection(["c", "a"]) }, "removal [1] b"), ({ $0.removeAll() }, "removal [0, 1, 2] a b c"),
        ({ $0.replace(at: 0, with: "x") }, "replacement [0] a > x"), ({ $0.replace(at: 0, with: "b") }, nil),
        ({ $0.exchange(0, 2) }, "replacement [0, 2] a c > c a"),
        ({ $0.move(fromOffsets: [0], toOffset: 3) }, "replacement [0, 1, 2] a b c > b c a"),
        ({ $0.sort(by: >) }, "replacement [0, 2] a c > c a"), ({ $0.reverse() }, "replacement [0, 2] a c > c a"),
        // An index whose new element is omitted keeps the present one, which stays distinct.
        ({ $0.replace(at: [0, 1, 2], with: ["x", "x", "y"]) }, "replacement [0, 2] a c > x y"),
        ({ $0.replace(at: [0, 1, 2], with: ["c", "x", "x"]) }, "replacement [1] b > x"),
      ]
      let log = Log()
      let token = library.observe(\.ranks, options: [.old, .new]) { _, change in
        let values = [change.oldValue, change.newValue].compactMap { $0?.joined(separator: " ") }
        log.add("\(change.kind) \(change.indexes.map(Array.init) ?? []) \(values.joined(separator: " > "))")
      }
      for (row, (mutate, change)) in rows.enumerated() {
        library.ranks = ["a", "b", "c"]
        _ = log.take()
        mutate(library.mutableOrderedSetValue(forKey: "ranks", of: String.self))
        #expect(log.take() == (change.map { [$0] } ?? []), "row \(row)")
      }
      token.invalidate()
    }

    @Test func `A proxy has the elements, indexes and ranges of an ordered set`() {
      library.ranks = ["a", "b", "c"]
      let ranks = library.mutableOrderedSetValue(for: \.ranks)
      #expect(ranks.startIndex == 0 && ranks.endIndex == 3 && ranks.count == 3 && ranks.contains("b"))
      #expect(ranks[1] == "b" && ranks[1..<3] == ["b", "c"] && ranks.first == "a" && ranks.last == "c")
      ranks.setArray(["x", "x"])
      #expect(Array(ranks) == ["x"] && library.ranks == ["x"])
    }

    @Test
    func `After any mutation the elements are distinct, and an observer that applies the changes has the same ones`() {
      var random = Seeded(state: 1)
      nonisolated(unsafe) var copy: [Int] = []
      let token = library.observe(\.numbers, options: [.old, .new]) { _, change in apply(change, to: &copy) }
      let numbers = library.mutableOrderedSetValue(for: \.numbers)
      for _ in 0..<3000 {
        let count = numbers.count
        let positions = (0..<count).filter { _ in random.number(below: 2) == 0 }
        let elements = positions.map { _ in random.number(below: 9) }
        switch random.number(below: 8) {
        case 0: numbers.append(contentsOf: elements + [random.number(below: 9)])
        case 1: numbers.insert(elements, at: IndexSet(positions))
        case 2: numbers.remove(at: IndexSet(positions.prefix(2)))
        case 3: if count > 1 { numbers.exchange(random.number(below: count), random.number(below: count)) }
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

    @Test func `A property may be an NSOrderedSet, changed by a proxy or announced manually`() {
      let ordered = library.mutableOrderedSetValue(forKey: "ordered", of: String.self)
      let changes = library.changes(of: \.ordered) {
        ordered.append(contentsOf: ["a", "b", "a"])
        ordered.insert("c", at: 1)
        ordered.remove("a")
      }
      #expect(changes == [#"insertion [0, 1] ->["a", "b"]"#, #"insertion [1] ->["c"]"#, #"removal [0] ["a"]>-"#])
      #expect(library.ordered == NSOrderedSet(array: ["c", "b"]) && Array(ordered) == ["c", "b"])
      let announced = library.changes(of: \.quietOrdered) {
        library.willChange(.insertion, valuesAt: [1], forKey: "quietOrdered")
        library.quietOrdered = NSOrderedSet(array: ["a", "x"])
        library.didChange(.insertion, valuesAt: [1], forKey: "quietOrdered")
      }
      #expect(announced == [#"insertion [1] ->["x"]"#])
      let recorder = ClassicRecorder(Log())
      library.addObserver(recorder, forKeyPath: "optionalOrdered", options: [.old, .new])
      library.optionalOrdered = ["a"]
      library.mutableOrderedSetValue(for: \.optionalOrdered, of: String.self).append("b")
      #expect(recorder.log.lines == [#"optionalOrdered 1 <null>>["a"]"#, #"optionalOrdered 2 [1] ->["b"]"#])
      library.removeObserver(recorder, forKeyPath: "optionalOrdered")
    }
  }
#endif
