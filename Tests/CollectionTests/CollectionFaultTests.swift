// Misuse of a proxy: it is reported, and nothing is changed or delivered.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Misuse of a collection proxy")
  struct CollectionFaultTests {
    let library = Library()
    let log = Log()

    private func codes(_ body: () -> Void) -> [Int] { faults(in: body).map(\.code) }

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
      ]
      for mutate in mutations {
        let faults = faults(in: mutate)
        #expect(faults.map(\.code) == [37] && faults.first?.exceptionName == "NSRangeException")
      }
      #expect(log.lines.isEmpty && library.numbers == [1, 2, 3])
      library.numbers = []
      _ = log.take()
      #expect(codes { numbers.removeLast() } + codes { numbers.removeFirst() } == [37, 37])
      #expect(log.lines.isEmpty)
      token.invalidate()
    }

    @Test func `An ordered set has the same faults`() {
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
      #expect(library.ranks == ["a"])
    }

    @Test func `Different numbers of elements and indexes are reported with both counts`() {
      library.numbers = [1, 2, 3]
      let numbers = library.mutableArrayValue(for: \.numbers)
      let fault = faults { numbers.insert([7, 8, 9], at: [0, 1]) }.first
      #expect(fault?.code == 40 && fault?.exceptionName == "NSInvalidArgumentException")
      #expect(
        fault?.appleSentence?.hasSuffix("the counts of the passed-in array (3) and index set (2) must be identical.")
          ?? false)
      #expect(codes { numbers.replace(at: [0], with: []) } == [40])
      #expect(library.numbers == [1, 2, 3])
    }

    @Test func `A collection that is nil has count 0, and cannot be mutated`() {
      let token = library.log(\.names, to: log)
      let names = library.mutableArrayValue(for: \.names)
      #expect(names.isEmpty && Array(names).isEmpty && names.first == nil)
      let address = "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(library).toOpaque()), radix: 16)
      var pivot = 1
      #expect(codes { pivot = names.partition { _ in true } } == [38] && pivot == 0)
      let fault = faults { names.append("a") }.first
      #expect(fault?.code == 38 && fault?.exceptionName == "NSInternalInconsistencyException")
      #expect(fault?.appleSentence == "Library: value for key names of object \(address) is nil")
      #expect(codes { names.removeAll() } + codes { names.setArray([]) } == [38, 38])
      let labels = library.mutableSetValue(for: \.labels)
      #expect(labels.isEmpty && codes { labels.insert("a") } == [38])
      #expect(codes { labels.removeAll() } == [38])
      #expect(log.lines.isEmpty && library.names == nil && library.labels == nil)
      library.names = []
      names.append("a")
      #expect(log.lines == ["setting nil>[]", "insertion [0] ->[\"a\"]"])
      token.invalidate()
    }

    @Test func `An element of another type is reported, with both types`() {
      let fault = faults { library.mutableArrayValue(forKey: "numbers").append("text") }.first
      #expect(fault?.code == 26)
      #expect(fault?.summary.contains("String") ?? false)
      #expect(fault?.summary.contains("Int") ?? false)
      #expect(codes { library.mutableSetValue(forKey: "tags").insert(7) } == [26])
      #expect(library.numbers.isEmpty && library.tags.isEmpty)
    }

    @Test func `A proxy of another element type is reported at its creation, and is empty`() {
      library.numbers = [1]
      #expect(codes { log.add("\(library.mutableArrayValue(forKey: "numbers", of: String.self))") } == [26])
      #expect(codes { log.add("\(library.mutableArrayValue(forKey: "title"))") } == [26])
      #expect(codes { log.add("\(library.mutableSetValue(forKey: "numbers"))") } == [26])
      #expect(codes { log.add("\(library.mutableArrayValue(forKey: "tags"))") } == [26])
      #expect(log.lines == ["[]", "[]", "[]", "[]"])
    }

    @Test func `An undefined key is reported at the creation of the proxy, which has no effect`() {
      let handle = faults {
        let handle = library.mutableArrayValue(forKey: "imaginary", of: Int.self)
        handle.append(1)
        #expect(handle.isEmpty && handle.popLast() == nil)
      }
      #expect(handle.map(\.code) == [09] && handle.first?.exceptionName == "NSUnknownKeyException")
      #expect(codes { library.mutableSetValue(forKey: "imaginary").removeAll() } == [09])
      #expect(codes { _ = library.mutableArrayValue(forKeyPath: "imaginary.numbers") } == [09])
      #expect(codes { _ = library.mutableArrayValue(forKeyPath: "title.numbers") } == [09])
      #expect(codes { _ = library.mutableArrayValue(forKeyPath: "items.copies") } == [9])
    }

    @Test func `A read-only property can be read through a proxy, but not mutated`() {
      let fixed = library.mutableArrayValue(forKey: "fixed", of: Int.self)
      #expect(Array(fixed) == [1, 2] && codes { fixed.append(3) } == [09])
      #expect(codes { _ = fixed.partition { $0 == 1 } } == [09])
      #expect(Array(fixed) == [1, 2])
    }
  }
#endif
