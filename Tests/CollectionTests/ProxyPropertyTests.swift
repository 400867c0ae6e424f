// The property of a proxy: key paths, computed properties, storage, and properties that only key-value coding finds.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Lodger {
    weak var owner: Library?
    var home: Library? = Library()
    var computed: Library? { home }
  }

  @KeyValueObservable
  private final class Link {
    var next: Link?
    var numbers: [Int] = []
  }

  /// Answers some keys itself.
  @KeyValueObservable
  private final class Cabinet {
    @NotObserved var drawers: [String: Any] = ["left": [1]]
    nonisolated func value(forKey key: String) -> Any? { drawers[key] ?? codedValue(forKey: key) }
    nonisolated func setValue(_ value: Any?, forKey key: String) {
      guard drawers[key] != nil else { return setCodedValue(value, forKey: key) }
      willChangeValue(forKey: key)
      drawers[key] = value
      didChangeValue(forKey: key)
    }
  }

  extension Int? {
    fileprivate var descriptions: [String] { ["\(self as Any)"] }
  }

  @Suite("The property of a proxy")
  struct ProxyPropertyTests {
    let library = Library()
    let log = Log()

    @Test func `A proxy of a key path keeps referring to the object found at its creation`() {
      let root = Library()
      root.branch = library
      let byString = root.mutableArrayValue(forKeyPath: "branch.numbers", of: Int.self)
      let typed = root.mutableArrayValue(for: \.branch?.numbers)
      let tags = root.mutableSetValue(forKeyPath: "branch.tags", of: String.self)
      let typedTags = root.mutableSetValue(for: \.branch?.tags)
      let ranks = root.mutableOrderedSetValue(forKeyPath: "branch.ranks", of: String.self)
      let typedRanks = root.mutableOrderedSetValue(for: \.branch?.ranks)
      root.branch = nil
      byString.append(1)
      typed.append(2)
      tags.insert("a")
      typedTags.insert("b")
      ranks.append("r")
      typedRanks.append("s")
      #expect(library.numbers == [1, 2] && library.tags == ["a", "b"] && library.ranks == ["r", "s"])
    }

    @Test func `With nil on the path a proxy is empty and has no effect, and is no fault`() {
      let raised = codes {
        let byString = library.mutableArrayValue(forKeyPath: "branch.numbers", of: Int.self)
        let typed = library.mutableArrayValue(for: \.branch?.numbers)
        byString.append(1)
        typed.append(1)
        library.mutableSetValue(for: \.branch?.tags).insert("a")
        #expect(byString.isEmpty && typed.isEmpty)
      }
      #expect(raised.isEmpty && library.branch == nil)
    }

    @Test func `A typed key path may lead through weak, computed and optional properties, and any number of objects`() {
      let lodger = Lodger()
      lodger.owner = library
      let first = Link()
      var last = first
      for _ in 0..<10 {
        last.next = Link()
        last = last.next!
      }
      let long: KeyPath<Link, [Int]?> = \.next?.next?.next?.next?.next?.next?.next?.next?.next?.next?.numbers
      let raised = codes {
        lodger.mutableArrayValue(for: \.owner?.numbers).append(1)
        lodger.mutableArrayValue(for: \.computed?.numbers).append(2)
        first.mutableArrayValue(for: long).append(3)
      }
      #expect(raised.isEmpty && library.numbers == [1] && lodger.home?.numbers == [2] && last.numbers == [3])
    }

    @Test func `A typed key path that does not consist of properties is reported`() {
      library.items = [Item("a")]
      #expect(codes { _ = library.mutableArrayValue(for: \.items[0].copies) } == [9])
      #expect(codes { _ = library.mutableArrayValue(for: \.numbers.first.descriptions) } == [9])
    }

    @Test func `A mutation is one change with its indexes for observers of paths with "?" and with "!"`() {
      let (first, middle, last) = (Link(), Link(), Link())
      (first.next, middle.next) = (middle, last)
      last.numbers = [5, 0, 4, 3]
      var tokens: [NSKeyValueObservation] = []
      for options in [[.old, .new], [.old, .new, .collectionChanges]] as [NSKeyValueObservingOptions] {
        tokens.append(first.log(\.next!.next!.numbers, options, to: log))
        tokens.append(first.log(\.next?.next!.numbers, options, to: log))
        tokens.append(first.log(\.next!.next?.numbers, options, to: log))
        tokens.append(first.log(\.next?.next?.numbers, options, to: log))
        tokens.append(middle.log(\.next!.numbers, options, to: log))
      }
      last.mutableArrayValue(for: \.numbers).remove(at: [0, 2])
      #expect(log.take() == Array(repeating: "removal [0, 2] [5, 4]>-", count: 10))
      first.mutableArrayValue(for: \.next!.next!.numbers).append(7)
      #expect(log.take() == Array(repeating: "insertion [2] ->[7]", count: 10))
      for token in tokens { token.invalidate() }
    }

    @Test func `A computed property notifies once with its changed elements, whatever its setter announces`() {
      let recorder = ClassicRecorder(log)
      library.numbers = [1]
      library.addObserver(recorder, forKeyPath: "computed", options: [.old, .new, .prior])
      let token = library.log(\.computed, as: "typed ", to: log)
      let storage = library.log(\.numbers, as: "storage ", to: log)
      library.mutableArrayValue(for: \.computed).append(2)
      #expect(
        log.take() == [
          "prior computed 2 [1] ->-", "storage setting [1]>[1, 2]", "typed insertion [1] ->[2]", "computed 2 [1] ->[2]",
        ])
      library.numbers.append(4)  // it still depends on what it reads
      #expect(log.take().contains("typed setting [1, 2]>[1, 2, 4]"))
      for token in [token, storage] { token.invalidate() }
      library.removeObserver(recorder, forKeyPath: "computed")
      let tokens = [
        library.log(\.lines, to: log), library.log(\.marks, to: log), library.log(\.shownTags, to: log),
        library.log(\.shownRanks, to: log),
      ]
      library.mutableArrayValue(for: \.lines).append("a")
      library.mutableOrderedSetValue(for: \.lines).append(contentsOf: ["a", "b"])
      library.mutableSetValue(for: \.marks).insert(1)
      library.mutableSetValue(for: \.shownTags).formUnion(["a", "b"])
      library.mutableOrderedSetValue(for: \.shownRanks).append("r")
      #expect(
        log.take() == [
          #"insertion [0] ->["a"]"#, #"insertion [1] ->["b"]"#, "insertion ->{1}", "insertion ->{a b}",
          #"insertion [0] ->["r"]"#,
        ])
      for token in tokens { token.invalidate() }
    }

    @Test func `Dependents of a computed collection are notified once, with a setting`() {
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "caption", options: [.new])
      let token = library.log(\.total, as: "total ", to: log)
      library.mutableArrayValue(for: \.computed).append(1)
      #expect(log.lines.sorted() == ["caption 1 ->[1]", "total setting 0>1"])
      library.removeObserver(recorder, forKeyPath: "caption")
      token.invalidate()
    }

    @Test func `What an observer of the storage changes meanwhile is delivered with a computed property, as a setting`()
    {
      let meddling = library.observe(\.numbers) { library, _ in
        if library.numbers.count == 1 { library.numbers.append(9) }
      }
      let changes = library.changes(of: \.computed, [.new]) { library.mutableArrayValue(for: \.computed).append(1) }
      #expect(changes == ["setting ->[1, 9]"])
      meddling.invalidate()
    }

    @Test func `A proxy of a manual key does not notify, one of a stored property that is not observed does`() {
      #expect(library.changes(of: \.quiet) { library.mutableArrayValue(for: \.quiet).append(1) }.isEmpty)
      #expect(library.changes(of: \.quietTags) { library.mutableSetValue(for: \.quietTags).insert(1) }.isEmpty)
      #expect(library.quiet == [1] && library.quietTags == [1])
      let changes = library.changes(of: \.hidden) { library.mutableArrayValue(for: \.hidden).append(1) }
      #expect(changes == ["insertion [0] ->[1]"])
    }

    @Test func `A property with willSet or didSet is set once for each mutation`() {
      let watched = library.mutableArrayValue(for: \.watched)
      let changes = library.changes(of: \.watched) {
        watched.append(1)
        watched.sort()
        watched[0] = 2
      }
      #expect(library.stores == 2 && changes == ["insertion [0] ->[1]", "replacement [0] [1]>[2]"])
    }

    @Test func `The elements are mutated in place, observed or not`() {
      library.numbers = Array(0..<100_000)
      let numbers = library.mutableArrayValue(forKey: "numbers", of: Int.self)
      library.numbers.reserveCapacity(100_100)
      func address() -> UInt { library.numbers.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
      var addresses = [address()]
      numbers.append(1)
      numbers.insert([7, 8], at: [1, 2])
      addresses.append(address())
      let token = library.log(\.numbers, [.new], to: log)
      let mutations: [() -> Void] = [
        { numbers.append(2) }, { numbers[5] = 3 }, { numbers.remove(at: [0, 50_000]) },
      ]
      for mutate in mutations {
        mutate()
        addresses.append(address())
      }
      #expect(Set(addresses).count == 1 && log.lines.count == 3, "\(addresses)")
      token.invalidate()
    }

    @Test func `Key-value coding of a proxy is that of its elements`() {
      let shelf = Shelf()
      library.items = [Item("a"), Item("b")]
      shelf.crew = Set(library.items)
      let items = library.mutableArrayValue(for: \.items)
      let ordered = library.mutableOrderedSetValue(for: \.items)
      let crew = shelf.mutableSetValue(for: \.crew)
      #expect(items.value(forKey: "name") as? [String] == ["a", "b"])
      #expect(ordered.value(forKey: "name") as? [String] == ["a", "b"])
      #expect(crew.value(forKey: "name") as? Set<AnyHashable> == ["a", "b"])
      let counts = [
        items.value(forKeyPath: "@count"), ordered.value(forKeyPath: "@count"), crew.value(forKeyPath: "@count"),
      ]
      #expect(counts.map { $0 as? Int } == [2, 2, 2])
      let sets: [(String) -> Void] = [
        { items.setValue($0, forKey: "name") }, { items.setValue($0, forKeyPath: "name") },
        { ordered.setValue($0, forKey: "name") }, { ordered.setValue($0, forKeyPath: "name") },
        { crew.setValue($0, forKey: "name") }, { crew.setValue($0, forKeyPath: "name") },
      ]
      for (row, set) in sets.enumerated() {
        set("\(row)")
        #expect(library.items.map(\.name) == ["\(row)", "\(row)"])
      }
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
      #expect(library.dense == [5, 6])
      // The order of a set is not known, and a set cannot hold duplicates.
      let raised = codes {
        library.setValue(other.mutableSetValue(for: \.tags), forKey: "ranks")
        library.setValue(NSSet(array: [1]), forKey: "numbers")
        library.setValue(other.mutableArrayValue(for: \.ranks), forKey: "tags")
        library.setValue(NSOrderedSet(array: ["x"]), forKey: "tags")
      }
      #expect(raised == [26, 26, 26, 26])
      #expect(library.numbers == [3, 4] && library.ranks == ["x", "y"] && library.tags == ["z"])
    }

    @Test func `A collection of a dictionary is read and set by its key, which is delivered as a setting`() {
      let entries = KeyValueDictionary(["array": ["1"], "set": Set([1]), "number": 7])
      let recorder = ClassicRecorder(log)
      for key in ["array", "set"] { entries.addObserver(recorder, forKeyPath: key, options: [.old, .new]) }
      let array = entries.mutableArrayValue(forKeyPath: "array", of: String.self)
      array.append("2")
      array[0] = "0"
      #expect(entries["array"] as? [String] == ["0", "2"] && Array(array) == ["0", "2"])
      let set = entries.mutableSetValue(forKey: "set", of: Int.self)
      set.insert(2)
      set.remove(1)
      #expect(entries["set"] as? Set<Int> == [2] && Set(set) == [2])
      #expect(log.lines.count == 4 && log.lines.allSatisfy { $0.contains("y 1") || $0.contains("t 1") })
      for key in ["array", "set"] { entries.removeObserver(recorder, forKeyPath: key) }
      entries.mutableOrderedSetValue(forKey: "array", of: String.self).append(contentsOf: ["2", "3"])
      #expect(entries["array"] as? [String] == ["0", "2", "3"])
    }

    @Test func `A collection that a class provides by overriding value(forKey:) is set with setValue(_:forKey:)`() {
      let cabinet = Cabinet()
      cabinet.mutableArrayValue(forKey: "left", of: Int.self).append(2)
      #expect(cabinet.drawers["left"] as? [Int] == [1, 2])
      #expect(codes { cabinet.mutableArrayValue(forKey: "none").append(1) } == [9])
    }

    @Test @MainActor func `A class of the main actor supports proxies`() {
      let screen = Screen()
      let changes = screen.changes(of: \.rows) {
        screen.mutableArrayValue(for: \.rows).append("a")
        screen.mutableArrayValue(forKey: "rows", of: String.self)[0] = "b"
      }
      screen.mutableSetValue(for: \.selection).insert(1)
      #expect(changes == ["insertion [0] ->[\"a\"]", "replacement [0] [\"a\"]>[\"b\"]"])
      #expect(screen.rows == ["b"] && screen.selection == [1])
    }
  }

  @KeyValueObservable @MainActor
  private final class Screen {
    var rows: [String] = []
    var selection: Set<Int> = []
  }
#endif
