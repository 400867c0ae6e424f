// Mutations of an array through its proxy, and the proxy as a collection of Swift.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Mutating an array through a proxy")
  struct ArrayProxyTests {
    let library = Library()
    private typealias Proxy = KeyValueMutableArray<Int>
    private var numbers: Proxy { library.mutableArrayValue(for: \.numbers) }

    /// Expects that mutations of 10, 20, 30, 40 deliver changes, and that an observer that applies them has the same elements.
    private func expect(_ rows: [(mutate: (Proxy) -> Void, changes: [String])]) {
      for (row, (mutate, changes)) in rows.enumerated() {
        library.numbers = [10, 20, 30, 40]
        nonisolated(unsafe) var copy = library.numbers
        let token = library.observe(\.numbers, options: [.old, .new]) { _, change in apply(change, to: &copy) }
        let delivered = library.changes(of: \.numbers) {
          mutate(library.mutableArrayValue(forKey: "numbers", of: Int.self))
        }
        #expect(delivered == changes, "row \(row)")
        #expect(copy == library.numbers, "row \(row)")
        token.invalidate()
      }
    }

    @Test func `Appending and inserting are one insertion, with the indexes after the change`() {
      expect([
        ({ $0.append(50) }, ["insertion [4] ->[50]"]),
        ({ $0.append(contentsOf: [50, 60]) }, ["insertion [4, 5] ->[50, 60]"]),
        ({ $0 += [50] }, ["insertion [4] ->[50]"]),
        ({ $0.insert(5, at: 0) }, ["insertion [0] ->[5]"]),
        ({ $0.insert(contentsOf: [1, 2], at: 2) }, ["insertion [2, 3] ->[1, 2]"]),
        ({ $0.insert([1, 2, 3], at: [0, 2, 6]) }, ["insertion [0, 2, 6] ->[1, 2, 3]"]),
      ])
    }

    @Test func `Removing is one removal, with the indexes before the change`() {
      expect([
        ({ $0.remove(at: 1) }, ["removal [1] [20]>-"]),
        ({ $0.removeFirst() }, ["removal [0] [10]>-"]),
        ({ $0.removeLast() }, ["removal [3] [40]>-"]),
        ({ _ = $0.popLast() }, ["removal [3] [40]>-"]),
        ({ _ = $0.popFirst() }, ["removal [0] [10]>-"]),
        ({ $0.removeFirst(2) }, ["removal [0, 1] [10, 20]>-"]),
        ({ $0.removeLast(2) }, ["removal [2, 3] [30, 40]>-"]),
        ({ $0.remove(at: [0, 3]) }, ["removal [0, 3] [10, 40]>-"]),
        ({ $0.remove(atOffsets: [1, 2]) }, ["removal [1, 2] [20, 30]>-"]),
        ({ $0.removeAll { $0 > 15 && $0 != 30 } }, ["removal [1, 3] [20, 40]>-"]),
        ({ $0.removeSubrange(1...2) }, ["removal [1, 2] [20, 30]>-"]),
        ({ $0.removeSubranges(RangeSet([0..<1, 2..<4])) }, ["removal [0, 2, 3] [10, 30, 40]>-"]),
        ({ $0.removeAll() }, ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-"]),
      ])
      library.numbers = [10, 20, 30]
      #expect(numbers.remove(at: 1) == 20 && numbers.removeFirst() == 10 && numbers.popLast() == 30)
      #expect(numbers.popLast() == nil && numbers.popFirst() == nil)
    }

    @Test func `Replacing is one replacement with old and new elements`() {
      expect([
        ({ $0[1] = 21 }, ["replacement [1] [20]>[21]"]),
        ({ $0[1] += 1 }, ["replacement [1] [20]>[21]"]),
        ({ $0[1...2] = [21, 31] }, ["replacement [1, 2] [20, 30]>[21, 31]"]),
        ({ $0[...0] = [9] }, ["replacement [0] [10]>[9]"]),
        ({ $0.replace(at: [0, 3], with: [11, 41]) }, ["replacement [0, 3] [10, 40]>[11, 41]"]),
        ({ $0.swapAt(0, 2) }, ["replacement [0, 2] [10, 30]>[30, 10]"]),
      ])
    }

    @Test func `Apple's method for exchanging is two replacements`() {
      expect([
        ({ $0.exchange(0, 3) }, ["replacement [0] [10]>[40]", "replacement [3] [40]>[10]"]),
        ({ $0.exchange(3, 0) }, ["replacement [3] [40]>[10]", "replacement [0] [10]>[40]"]),
      ])
    }

    @Test func `Replacing a range or all by another number of elements is two changes`() {
      expect([
        ({ $0.replaceSubrange(1..<2, with: [1, 2, 3]) }, ["replacement [1] [20]>[1]", "insertion [2, 3] ->[2, 3]"]),
        ({ $0.replaceSubrange(1..., with: [1]) }, ["replacement [1] [20]>[1]", "removal [2, 3] [30, 40]>-"]),
        ({ $0.replaceSubrange(2..<2, with: [1]) }, ["insertion [2] ->[1]"]),
        ({ $0.replaceSubrange(2..<4, with: []) }, ["removal [2, 3] [30, 40]>-"]),
        ({ $0.setArray([1]) }, ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-", "insertion [0] ->[1]"]),
      ])
    }

    @Test func `Reordering is one replacement of the indexes whose elements differ`() {
      expect([
        ({ $0.sort(by: >) }, ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"]),
        (
          { $0.sort(using: KeyPathComparator(\.self, order: .reverse)) },
          ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"]
        ),
        ({ $0.reverse() }, ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"]),
        ({ $0.move(fromOffsets: [0], toOffset: 3) }, ["replacement [0, 1, 2] [10, 20, 30]>[20, 30, 10]"]),
      ])
      library.numbers = [1, 5, 3, 4, 1]
      #expect(library.changes(of: \.numbers) { numbers.reverse() } == ["replacement [1, 3] [5, 4]>[4, 5]"])
      var pivot = 0
      #expect(library.changes(of: \.numbers) { pivot = numbers.partition { $0 < 4 } }.count == 1)
      #expect(pivot == 2 && library.numbers[..<2].allSatisfy { $0 >= 4 })
      library.numbers = Array(0..<50)
      #expect(library.changes(of: \.numbers) { numbers.shuffle() }.count == 1)
      #expect(library.numbers.sorted() == Array(0..<50))
    }

    @Test func `A call that changes no element does not notify, and is no fault`() {
      let raised = codes {
        expect([
          ({ $0.append(contentsOf: []) }, []), ({ $0.insert(contentsOf: [], at: 4) }, []),
          ({ $0.insert([], at: []) }, []),
          ({ $0.remove(at: []) }, []), ({ $0.replace(at: [], with: []) }, []), ({ $0.removeSubrange(4..<4) }, []),
          ({ $0.removeAll { $0 > 100 } }, []), ({ $0.removeFirst(0) }, []), ({ $0.removeLast(0) }, []),
          ({ $0.swapAt(1, 1) }, []), ({ $0.sort() }, []), ({ $0.remove(7) }, []),
        ])
        library.numbers = []
        #expect(library.changes(of: \.numbers) { numbers.removeAll() }.isEmpty)
        numbers.removeFirst(0)
      }
      #expect(raised.isEmpty)
    }

    @Test func `A proxy with element type Any casts the elements in both directions`() {
      let any = library.mutableArrayValue(forKey: "numbers")
      let changes = library.changes(of: \.numbers) {
        any.append(1)
        any.insert(2, at: 0)
      }
      #expect(any.map { $0 as! Int } == [2, 1] && changes == ["insertion [0] ->[1]", "insertion [0] ->[2]"])
      any.remove(2)
      #expect(library.numbers == [1])
    }

    @Test func `A proxy has the present elements, and indexes, ranges and sums as an array`() {
      let numbers = numbers
      library.numbers = [1, 2, 3, 4]
      #expect(numbers.count == 4 && Array(numbers) == [1, 2, 3, 4] && numbers.contains(2))
      #expect(numbers.index(before: numbers.endIndex) == 3 && numbers.index(after: 1) == 2)
      #expect(numbers.first == 1 && numbers.last == 4 && numbers.reversed() == [4, 3, 2, 1])
      #expect(numbers[1..<3] == [2, 3] && numbers[2...] == [3, 4] && numbers[4...] == [] && numbers[..<0] == [])
      #expect(numbers[...1] == [1, 2] && numbers[..<2] == [1, 2] && numbers[1...2] == [2, 3])
      #expect(Array(numbers + AnySequence([5])) == [1, 2, 3, 4, 5] && Array(numbers + [5]) == [1, 2, 3, 4, 5])
      #expect(library.changes(of: \.numbers) { numbers += AnySequence([5]) } == ["insertion [4] ->[5]"])
      var generic = numbers
      func fill(_ collection: inout some RangeReplaceableCollection<Int>) { collection.append(7) }
      fill(&generic)
      #expect(library.numbers == [1, 2, 3, 4, 5, 7])
    }

    @Test func `An independent list is a collection like any other`() {
      let own = KeyValueMutableArray<Int>()
      own.append(contentsOf: [3, 1, 2])
      own.sort()
      #expect(Array(own) == [1, 2, 3] && KeyValueMutableArray([1, 2, 3]) == own)
      let raised = faults { own.remove(at: 3) }
      #expect(raised.map(\.code) == [37] && Array(own) == [1, 2, 3])
      #expect(raised.first?.summary.contains("index 3 is outside of a list, which has 3 elements") == true)
    }

    @Test func `Proxies are shown as the collections that they stand for`() {
      (library.numbers, library.ranks, library.tags) = ([1, 2], ["a", "b"], ["t"])
      let (ranks, tags) = (library.mutableOrderedSetValue(for: \.ranks), library.mutableSetValue(for: \.tags))
      #expect(numbers.description == "[1, 2]" && numbers.debugDescription == "[1, 2]")
      #expect(ranks.description == #"["a", "b"]"# && ranks.debugDescription == #"["a", "b"]"#)
      #expect(tags.description == #"["t"]"# && tags.debugDescription.contains(#"["t"]"#) && tags.members == ["t"])
      let mirrors = [Mirror(reflecting: numbers), Mirror(reflecting: ranks), Mirror(reflecting: tags)]
      #expect(mirrors.map(\.displayStyle) == [.collection, .collection, .set])
      #expect(mirrors.map { $0.children.map { "\($0.value)" } } == [["1", "2"], ["a", "b"], ["t"]])
    }
  }
#endif
