// Misuse of a proxy: it is reported, and nothing is changed or delivered.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  /// Provides a list for a key that cannot be set.
  @KeyValueObservable
  private final class ReadOnlyShelf {
    let codes: Set<Int> = [1]
    func value(forUndefinedKey key: String) -> Any? { key == "books" ? ["a", "b"] : nil }
  }

  @Suite("Misuse of a collection proxy")
  struct CollectionFaultTests {
    let library = Library()
    let log = Log()

    /// Returns the first lines of the faults of a body.
    private func summary(_ body: () -> Void) -> String { faults(in: body).map(\.summary).joined(separator: "\n") }

    @Test func `An index out of range is a range exception; nothing changes and nobody is notified`() {
      library.numbers = [1, 2, 3]
      let token = library.log(\.numbers, [.old, .new, .prior], to: log)
      let numbers = library.mutableArrayValue(for: \.numbers)
      let mutations: [() -> Void] = [
        { numbers.remove(at: 3) }, { numbers.remove(at: -1) }, { numbers.remove(at: [1, 3]) },
        { numbers.insert(9, at: 4) }, { numbers.insert(9, at: -1) }, { numbers.insert([8, 9], at: [0, 5]) },
        { numbers[3] = 9 }, { numbers.replace(at: [2, 3], with: [8, 9]) }, { numbers.swapAt(0, 3) },
        { numbers.exchange(3, 0) }, { numbers.removeSubrange(2..<4) }, { numbers.replaceSubrange(4..<4, with: [1]) },
        { numbers[2...3] = [1, 2] }, { numbers.removeFirst(4) }, { numbers.removeLast(4) }, { numbers.removeLast(-1) },
        { numbers.insert(contentsOf: [], at: 4) }, { numbers.move(fromOffsets: [3], toOffset: 0) },
        { numbers.move(fromOffsets: [0], toOffset: 4) }, { numbers.removeSubranges(RangeSet([2..<4])) },
        { numbers.removeSubrange(4...) }, { numbers.removeSubrange(..<(-1)) }, { numbers.removeSubrange(...(-2)) },
        { numbers.replaceSubrange(4..., with: [1]) }, { numbers[5...] = [1] }, { _ = numbers[4...] },
        { numbers.removeFirst(-1) },
      ]
      for (row, mutate) in mutations.enumerated() {
        let faults = faults(in: mutate)
        #expect(faults.map(\.code) == [37] && faults.first?.exceptionName == "NSRangeException", "row \(row)")
      }
      #expect(log.lines.isEmpty && library.numbers == [1, 2, 3])
      #expect(summary { numbers.swapAt(2, 6) }.contains("index 6 is outside"))
      library.numbers = []
      _ = log.take()
      #expect(codes { numbers.removeLast() } + codes { numbers.removeFirst() } == [37, 37])
      #expect(log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `An ordered set has the same faults as a list`() {
      library.ranks = ["a"]
      let ranks = library.mutableOrderedSetValue(for: \.ranks)
      #expect(codes { ranks.insert("b", at: 2) } == [37])
      #expect(codes { ranks.remove(at: 1) } == [37])
      #expect(codes { ranks.replace(at: 1, with: "b") } == [37])
      #expect(codes { ranks.replace(at: 1, with: "a") } == [37])
      let fault = faults { ranks.insert(["b"], at: [0, 1]) }.first
      #expect(
        fault?.appleSentence?.hasSuffix(
          "the counts of the passed-in ordered set (1) and index set (2) must be identical.") ?? false)
      #expect(codes { ranks.replace(at: [0], with: []) } == [40])
      #expect(library.ranks == ["a"])
    }

    @Test func `A collection that is nil is empty, and cannot be mutated`() {
      let names = library.mutableArrayValue(for: \.names)
      let labels = library.mutableSetValue(for: \.labels)
      #expect(names.isEmpty && Array(names).isEmpty && names.first == nil && labels.isEmpty)
      let mutations: [() -> Void] = [
        { names.append("a") }, { names.removeAll() }, { names.setArray([]) }, { _ = names.partition { _ in true } },
        { labels.insert("a") }, { labels.removeAll() },
      ]
      let changes = library.changes(of: \.names) {
        for (row, mutate) in mutations.enumerated() { #expect(codes(mutate) == [38], "row \(row)") }
        #expect(faults { names.append("a") }.first?.help == "set the property to an empty collection first")
        #expect(library.names == nil && library.labels == nil)
        library.names = []
        names.append("a")
      }
      #expect(changes == ["setting nil>[]", "insertion [0] ->[\"a\"]"])
    }

    @Test func `An element of another type is reported, with both types`() {
      library.numbers = [1]
      library.tags = ["a"]
      let given = summary { library.mutableArrayValue(forKey: "numbers", of: Int?.self).append(nil) }
      #expect(given.contains("holds elements of type Int, not Optional<Int>"))
      let text = summary { library.mutableArrayValue(forKey: "numbers").append("text") }
      #expect(text.contains("Int") && text.contains("String"))
      #expect(codes { library.mutableSetValue(forKey: "tags").insert(7) } == [26])
      #expect(library.numbers == [1] && library.tags == ["a"])
    }

    @Test func `A proxy of another element type is reported at its creation, and is empty`() {
      library.numbers = [1]
      library.anything = ["text"]
      library.mixed = ["text"]
      let proxies: [() -> String] = [
        { "\(library.mutableArrayValue(forKey: "numbers", of: String.self))" },
        { "\(library.mutableArrayValue(forKey: "title"))" }, { "\(library.mutableSetValue(forKey: "numbers"))" },
        { "\(library.mutableArrayValue(forKey: "tags"))" },
        { "\(library.mutableArrayValue(forKey: "anything", of: Int.self))" },
        { "\(library.mutableSetValue(forKey: "mixed", of: Int.self))" },
      ]
      for (row, proxy) in proxies.enumerated() {
        #expect(codes { log.add(proxy()) } == [26], "row \(row)")
      }
      #expect(log.lines == Array(repeating: "[]", count: proxies.count))
      let wrong = summary { _ = library.mutableArrayValue(forKey: "numbers", of: String.self) }
      #expect(wrong.contains("holds an element of type Int, and is accessed as a collection of String"))
    }

    @Test func `An undefined key is reported at the creation of the proxy, which has no effect`() {
      let raised = faults {
        let proxy = library.mutableArrayValue(forKey: "imaginary", of: Int.self)
        proxy.append(1)
        #expect(proxy.isEmpty && proxy.popLast() == nil)
      }
      #expect(raised.map(\.code) == [9] && raised.first?.exceptionName == "NSUnknownKeyException")
      #expect(codes { library.mutableSetValue(forKey: "imaginary").removeAll() } == [9])
      for path in ["imaginary.numbers", "title.numbers", "items.copies"] {
        #expect(codes { _ = library.mutableArrayValue(forKeyPath: path) } == [9], "\(path)")
      }
      let ofRow = summary { library.mutableArrayValue(forKeyPath: "table.row").append(1) }
      #expect(ofRow.contains("Dictionary<String, Array<Int>>"))
    }

    @Test func `A read-only collection can be read through a proxy, but not mutated`() {
      let fixed = library.mutableArrayValue(forKey: "fixed", of: Int.self)
      #expect(codes { fixed.append(3) } == [9])
      #expect(codes { _ = fixed.partition { $0 == 1 } } == [9])
      let shelf = ReadOnlyShelf()
      let set = shelf.mutableSetValue(forKey: "codes", of: Int.self)
      #expect(codes { set.insert(2) } + codes { set.removeAll() } == [9, 9])
      #expect(Array(fixed) == [1, 2] && set.members == [1])
      let ofBooks = codes {
        shelf.mutableArrayValue(forKey: "books", of: String.self).replaceSubrange(0..<1, with: ["x", "y"])
      }
      #expect(ofBooks == [9])
    }

    @Test func `The misuse of a dictionary's collection has the same faults`() {
      let entries = KeyValueDictionary(["array": ["1"], "number": 7])
      let rows: [(code: Int, misuse: () -> Void)] = [
        (26, { entries.mutableArrayValue(forKey: "number").append(1) }),
        (26, { entries.mutableSetValue(forKey: "array").insert(1) }),
        (26, { entries.mutableArrayValue(forKey: "array", of: Int.self).append(1) }),
        (26, { entries.mutableArrayValue(forKey: "array").append(1) }),
        (38, { entries.mutableArrayValue(forKey: "none").append(1) }),
        (38, { entries.mutableSetValue(forKey: "none").insert(1) }),
        (37, { entries.mutableArrayValue(forKey: "array").remove(at: 1) }),
      ]
      for (row, (code, misuse)) in rows.enumerated() { #expect(codes(misuse) == [code], "row \(row)") }
    }

    @Test func `A list that comes to hold another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        writeFaults()
        let library = Library()
        let numbers = library.mutableArrayValue(forKey: "anything", of: Int.self)
        library.anything = [1]
        precondition(numbers[0] == 1)
        library.anything = ["text"]
        _ = numbers[0]  // There is no value to return, whatever the policy is.
      }
      #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault 26\n") } == true)
    }

    @Test func `A set that comes to hold another type is the fault of the access, and ends the process`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        writeFaults()
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
  private func writeFaults() {
    KeyValueFault.setHandler { fault in
      FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
      return .ignore
    }
  }
#endif
