// Proxies as collections of Swift, as values of key-value coding, and what they are shown as.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A proxy as a collection")
  struct ProxyTests {
    let library = Library()
    let log = Log()

    @Test func `An array's proxy has indexes, ranges and sums as an array`() {
      library.numbers = [1, 2, 3, 4]
      let numbers = library.mutableArrayValue(for: \.numbers)
      #expect(numbers.index(before: numbers.endIndex) == 3 && numbers.index(after: 1) == 2)
      #expect(numbers.last == 4 && numbers.reversed() == [4, 3, 2, 1])
      #expect(numbers[1..<3] == [2, 3] && numbers[2...] == [3, 4] && numbers[4...] == [] && numbers[..<0] == [])
      #expect(numbers[...1] == [1, 2] && numbers[..<2] == [1, 2] && numbers[1...2] == [2, 3])
      let token = library.log(\.numbers, to: log)
      numbers[1..<3] = [7, 8]
      numbers[...0] = [9]
      #expect(log.take() == ["replacement [1, 2] [2, 3]>[7, 8]", "replacement [0] [1]>[9]"])
      #expect(Array(numbers + AnySequence([5])) == [9, 7, 8, 4, 5])
      #expect(Array(numbers + [5, 6]) == [9, 7, 8, 4, 5, 6])
      numbers += AnySequence([5])
      #expect(log.take() == ["insertion [4] ->[5]"])
      #expect(library.numbers == [9, 7, 8, 4, 5])
      token.invalidate()
    }

    @Test func `An ordered set's proxy has the elements, ranges and mutations of an ordered set`() {
      library.ranks = ["a", "b", "c"]
      let ranks = library.mutableOrderedSetValue(for: \.ranks)
      #expect(ranks.startIndex == 0 && ranks.endIndex == 3 && ranks.count == 3)
      #expect(ranks[1] == "b" && ranks[1..<3] == ["b", "c"] && ranks.first == "a" && ranks.last == "c")
      #expect(Array(ranks) == ["a", "b", "c"] && ranks.map { $0 } == ["a", "b", "c"] && ranks.contains("b"))
      let token = library.log(\.ranks, to: log)
      ranks.formUnion(["c", "d", "a", "e"])
      #expect(ranks.removeLast() == "e")
      ranks.removeAll { $0 < "c" }
      #expect(
        log.take() == [
          #"insertion [3, 4] ->["d", "e"]"#, #"removal [4] ["e"]>-"#, #"removal [0, 1] ["a", "b"]>-"#,
        ])
      #expect(library.ranks == ["c", "d"])
      token.invalidate()
    }

    @Test func `Different numbers of elements and indexes change nothing in an ordered set`() {
      library.ranks = ["a", "b"]
      let ranks = library.mutableOrderedSetValue(for: \.ranks)
      #expect(faults { ranks.replace(at: [0, 1], with: ["x"]) }.map(\.code) == [40])
      #expect(library.ranks == ["a", "b"])
    }

    @Test func `A proxy of a nested ordered set is found by string, by typed key path, and changes it`() {
      let shelf = Shelf()
      shelf.library.ranks = ["a"]
      shelf.mutableOrderedSetValue(forKeyPath: "library.ranks", of: String.self).append("b")
      shelf.mutableOrderedSetValue(for: \.library.ranks).append("c")
      #expect(shelf.library.ranks == ["a", "b", "c"])
      #expect(shelf.value(forKeyPath: "library.ranks.@count") as? Int == 3)
    }

    @Test func `Proxies are shown as the collections that they stand for`() {
      (library.numbers, library.ranks, library.tags) = ([1, 2], ["a", "b"], ["t"])
      let (numbers, ranks) = (library.mutableArrayValue(for: \.numbers), library.mutableOrderedSetValue(for: \.ranks))
      let tags = library.mutableSetValue(for: \.tags)
      #expect(numbers.description == "[1, 2]" && numbers.debugDescription == "[1, 2]")
      #expect(ranks.description == #"["a", "b"]"# && ranks.debugDescription == #"["a", "b"]"#)
      #expect(tags.description == #"["t"]"# && tags.debugDescription.contains(#"["t"]"#) && tags.members == ["t"])
      let mirrors = [Mirror(reflecting: numbers), Mirror(reflecting: ranks), Mirror(reflecting: tags)]
      #expect(mirrors.map(\.displayStyle) == [.collection, .collection, .set])
      #expect(mirrors.map { $0.children.map { "\($0.value)" } } == [["1", "2"], ["a", "b"], ["t"]])
    }

    @Test func `Key-value coding sets a property to what a proxy or a collection of Foundation holds`() {
      let other = Library()
      (other.numbers, other.ranks, other.tags) = ([1, 2], ["a", "b"], ["t", "u"])
      library.setValue(other.mutableArrayValue(for: \.numbers), forKey: "numbers")
      library.setValue(other.mutableOrderedSetValue(for: \.ranks), forKey: "ranks")
      library.setValue(other.mutableSetValue(for: \.tags), forKey: "tags")
      #expect(library.numbers == [1, 2] && library.ranks == ["a", "b"] && library.tags == ["t", "u"])
      library.setValue(NSArray(array: [3, 4]), forKey: "numbers")
      library.setValue(NSOrderedSet(array: ["x", "y"]), forKey: "ranks")
      library.setValue(NSSet(array: ["z"]), forKey: "tags")
      library.setValue([5, 6] as ContiguousArray, forKey: "dense")
      #expect(library.numbers == [3, 4] && library.ranks == ["x", "y"] && library.tags == ["z"])
      #expect(library.dense == [5, 6])
      // The order of a set is not known, and a set cannot hold duplicates.
      #expect(faults { library.setValue(other.mutableSetValue(for: \.tags), forKey: "ranks") }.map(\.code) == [26])
      #expect(faults { library.setValue(NSSet(array: [1]), forKey: "numbers") }.map(\.code) == [26])
      #expect(faults { library.setValue(other.mutableArrayValue(for: \.ranks), forKey: "tags") }.map(\.code) == [26])
      #expect(faults { library.setValue(NSOrderedSet(array: ["x"]), forKey: "tags") }.map(\.code) == [26])
      #expect(library.numbers == [3, 4] && library.ranks == ["x", "y"] && library.tags == ["z"])
    }

    @Test func `Key-value coding counts and reads the elements of a proxy`() {
      let shelf = Shelf()
      let library = shelf.library
      library.items = [Item("a"), Item("b")]
      (library.tags, library.ranks) = (["t", "uu"], ["x", "yy", "zzz"])
      let (items, ranks) = (library.mutableArrayValue(for: \.items), library.mutableOrderedSetValue(for: \.ranks))
      #expect(items.value(forKeyPath: "name") as? [String] == ["a", "b"])
      #expect(items.value(forKeyPath: "@count") as? Int == 2)
      #expect(ranks.value(forKeyPath: "@count") as? Int == 3)
      #expect(library.mutableSetValue(for: \.tags).value(forKeyPath: "@count") as? Int == 2)
      let dense: ContiguousArray = [Item("c")]
      #expect(dense.value(forKeyPath: "name.self") as? [String] == ["c"])
    }

    @Test func `Elements of another type are a fault when the proxy is made, which then is empty`() {
      library.anything = ["text"]
      library.mixed = ["text"]
      var (list, set): (KeyValueMutableArray<Int>?, KeyValueMutableSet<Int>?)
      #expect(faults { list = library.mutableArrayValue(forKey: "anything", of: Int.self) }.map(\.code) == [26])
      #expect(faults { set = library.mutableSetValue(forKey: "mixed", of: Int.self) }.map(\.code) == [26])
      #expect(list?.isEmpty == true && set?.isEmpty == true)
    }

    @Test func `A list that holds another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        tellFaults()
        let library = Library()
        let numbers = library.mutableArrayValue(forKey: "anything", of: Int.self)
        library.anything = [1]
        precondition(numbers[0] == 1)
        library.anything = ["text"]
        _ = numbers[0]  // There is no value to return, whatever the policy is.
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 26\n") } == true)
    }

    @Test func `A set that holds another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        tellFaults()
        let library = Library()
        let numbers = library.mutableSetValue(forKey: "mixed", of: Int.self)
        library.mixed = [1]
        precondition(numbers.members == [1])
        library.mixed = ["text"]
        _ = numbers.members
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 26\n") } == true)
    }
  }

  /// Writes the codes of faults to the standard error, and goes on after them.
  private func tellFaults() {
    KeyValueFault.setHandler { fault in
      FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
      return .ignore
    }
  }
#endif
