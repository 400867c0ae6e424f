// Proxies of the properties at the end of typed key paths: through references, optionals, computed properties and many objects.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class Lodger {
    weak var owner: Library?
    var home: Library? = Library()
    var computed: Library? { home }
  }

  @KeyValueObservable
  final class Link {
    var next: Link?
    var numbers: [Int] = []
  }

  /// Answers some keys itself.
  @KeyValueObservable
  final class Cabinet {
    @NotObserved var drawers: [String: Any] = ["left": [1]]
    nonisolated func value(forKey key: String) -> Any? { drawers[key] ?? codedValue(forKey: key) }
    nonisolated func setValue(_ value: Any?, forKey key: String) {
      guard drawers[key] != nil else { return setCodedValue(value, forKey: key) }
      willChangeValue(forKey: key)
      drawers[key] = value
      didChangeValue(forKey: key)
    }
  }

  struct ProxyPathTests {
    let library = Library()

    @Test func `A typed key path may lead through a weak property`() {
      let lodger = Lodger()
      #expect(faults { lodger.mutableArrayValue(for: \.owner?.names).append("") }.isEmpty)
      lodger.owner = library
      library.names = []
      #expect(faults { lodger.mutableArrayValue(for: \.owner?.names).append("A") }.isEmpty)
      #expect(library.names == ["A"])
    }

    @Test func `A typed key path may lead through a computed property`() {
      let lodger = Lodger()
      #expect(faults { lodger.mutableArrayValue(for: \.computed?.numbers).append(1) }.isEmpty)
      #expect(lodger.home?.numbers == [1])
    }

    @Test func `A typed key path may lead through several optional properties`() {
      let (first, last) = (Link(), Link())
      first.next = Link()
      #expect(faults { first.mutableArrayValue(for: \.next?.next?.numbers).append(1) }.map(\.code) == [])
      first.next?.next = last
      #expect(faults { first.mutableArrayValue(for: \.next?.next?.numbers).append(1) }.isEmpty)
      #expect(last.numbers == [1])
    }

    @Test func `A mutation is one change with its indexes for observers of paths with "?" and with "!"`() {
      let (first, middle, last, log) = (Link(), Link(), Link(), Log())
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

    @Test func `A path with "!" follows the objects on it`() {
      let (first, other, log) = (Link(), Link(), Log())
      first.next = Link()
      other.numbers = [1, 2]
      let token = first.log(\.next!.numbers, to: log)
      first.next = other
      other.mutableArrayValue(for: \.numbers).remove(at: 0)
      #expect(log.take() == ["setting []>[1, 2]", "removal [0] [1]>-"])
      token.invalidate()
    }

    @Test func `A typed key path may lead through ten objects`() {
      let first = Link()
      var last = first
      for _ in 0..<10 {
        last.next = Link()
        last = last.next!
      }
      let path: KeyPath<Link, [Int]?> = \.next?.next?.next?.next?.next?.next?.next?.next?.next?.next?.numbers
      #expect(faults { first.mutableArrayValue(for: path).append(1) }.isEmpty)
      #expect(last.numbers == [1])
    }

    @Test func `A collection of a dictionary is read and set by its key, which tells a setting`() {
      let (entries, log) = (KeyValueDictionary(["array": ["1"], "set": Set([1]), "number": 7]), Log())
      let recorder = ClassicRecorder(log)
      for key in ["array", "set"] { entries.addObserver(recorder, forKeyPath: key, options: [.old, .new]) }
      let array = entries.mutableArrayValue(forKeyPath: "array", of: String.self)
      #expect(array[0] == "1" && Array(array) == ["1"])
      array.append("2")
      array[0] = "0"
      #expect(entries["array"] as? [String] == ["0", "2"] && array.count == 2)
      let set = entries.mutableSetValue(forKey: "set", of: Int.self)
      set.insert(2)
      set.remove(1)
      #expect(entries["set"] as? Set<Int> == [2] && Set(set) == [2])
      #expect(log.lines.count == 4 && log.lines.allSatisfy { $0.contains("y 1") || $0.contains("t 1") })
      for key in ["array", "set"] { entries.removeObserver(recorder, forKeyPath: key) }
      let ordered = entries.mutableOrderedSetValue(forKey: "array", of: String.self)
      ordered.append("2")
      ordered.append("3")
      #expect(entries["array"] as? [String] == ["0", "2", "3"])
    }

    @Test func `A collection that a class provides by overriding value(forKey:) is set with setValue(_:forKey:)`() {
      let cabinet = Cabinet()
      cabinet.mutableArrayValue(forKey: "left", of: Int.self).append(2)
      #expect(cabinet.drawers["left"] as? [Int] == [1, 2])
    }

    @Test func `The misuse of such a collection has the faults of a property's`() {
      let entries = KeyValueDictionary(["array": ["1"], "number": 7])
      #expect(faults { entries.mutableArrayValue(forKey: "number").append(1) }.map(\.code) == [26])
      #expect(faults { entries.mutableSetValue(forKey: "array").insert(1) }.map(\.code) == [26])
      #expect(faults { entries.mutableArrayValue(forKey: "array", of: Int.self).append(1) }.map(\.code) == [26])
      #expect(faults { entries.mutableArrayValue(forKey: "array").append(1) }.map(\.code) == [26])
      #expect(faults { entries.mutableArrayValue(forKey: "none").append(1) }.map(\.code) == [38])
      #expect(faults { entries.mutableSetValue(forKey: "none").insert(1) }.map(\.code) == [38])
      #expect(faults { entries.mutableArrayValue(forKey: "array").remove(at: 1) }.map(\.code) == [37])
      #expect(faults { Cabinet().mutableArrayValue(forKey: "none").append(1) }.map(\.code) == [9])
    }

    @Test func `A change of such a collection is complete also if an observer raises a fault`() {
      let entries = KeyValueDictionary(["array": ["1", "2"], "set": Set([1])])
      for key in ["array", "set"] {
        let raised = faults {
          let observer = FaultyObserver()
          entries.addObserver(observer, forKeyPath: key, options: [])
          defer { entries.removeObserver(observer, forKeyPath: key) }
          if key == "array" {
            let array = entries.mutableArrayValue(forKey: key, of: String.self)
            #expect(array.remove(at: 0) == "1")
            array.setArray(["x", "y"])
          } else {
            entries.mutableSetValue(forKey: key, of: Int.self).setSet([2, 3])
          }
        }
        #expect(!raised.isEmpty)
      }
      #expect(entries["array"] as? [String] == ["x", "y"] && entries["set"] as? Set<Int> == [2, 3])
    }

    @Test func `A replacement that the object refuses ends the mutation`() {
      let shelf = ReadOnlyShelf()
      let raised = faults {
        shelf.mutableArrayValue(forKey: "books", of: String.self).replaceSubrange(0..<1, with: ["x", "y"])
      }
      #expect(raised.map(\.code) == [9])
    }

    @Test func `Faults about elements name what the collection holds`() {
      let (library, entries) = (Library(), KeyValueDictionary(["set": Set([1])]))
      library.numbers = [1]
      func summaries(_ body: () -> Void) -> [String] { faults(in: body).map(\.summary) }
      for wrong in [
        summaries { _ = entries.mutableSetValue(forKey: "set", of: String.self) },
        summaries { _ = library.mutableArrayValue(forKey: "numbers", of: String.self) },
      ] {
        #expect(wrong.count == 1)
        #expect(
          wrong.first?.contains("holds an element of type Int, and is accessed as a collection of String") == true)
      }
      let given = summaries { library.mutableArrayValue(forKey: "numbers", of: Int?.self).append(nil) }
      #expect(given.first?.contains("holds elements of type Int, not Optional<Int>") == true)
      let token = library.log(\.tags, to: Log())
      let members = summaries { library.willChangeValue(forKey: "tags", withSetMutation: .union, using: [7]) }
      #expect(members.first?.contains("holds elements of type String, not Int") == true)
      token.invalidate()
      #expect(
        summaries { library.mutableArrayValue(forKey: "numbers").remove(at: 1) }.first?.contains("1 element") == true)
      let ofPath = faults { library.mutableArrayValue(forKeyPath: "table.row").append(1) }
      #expect(ofPath.map(\.code) == [9] && ofPath.first?.summary.contains("Dictionary<String, Array<Int>>") == true)
    }

    @Test func `A mutation is that of the collection as observers of the time before it have left it`() {
      let (library, log) = (Library(), Log())
      func told<Value>(
        _ path: KeyPath<Library, Value>, before: @escaping () -> Void, change: () -> Void
      ) -> [String] {
        nonisolated(unsafe) var isFirst = true
        nonisolated(unsafe) let before = before
        let token = library.observe(path, options: [.old, .new, .prior]) { _, change in
          guard change.isPrior else { return log.add("\(text(change.oldValue))>\(text(change.newValue))") }
          if isFirst {
            isFirst = false
            before()
          }
        }
        change()
        token.invalidate()
        return log.take()
      }
      library.tags = ["a", "b"]
      let tags = library.mutableSetValue(for: \.tags)
      let ofSet = told(\.tags, before: { library.tags = [] }, change: { tags.setSet(["a", "c"]) })
      #expect(library.tags == ["a", "c"] && ofSet == ["{a b}>{}", "{}>{a c}"])
      _ = told(\.tags, before: { library.tags.insert("d") }, change: { #expect(!tags.insert("d").inserted) })
      _ = told(\.tags, before: { library.tags.remove("d") }, change: { #expect(tags.remove("d") == nil) })
      library.tags = ["a"]
      _ = told(\.tags, before: { library.tags.insert("z") }, change: { tags.formSymmetricDifference(["b"]) })
      #expect(library.tags == ["a", "b", "z"])
      _ = told(\.tags, before: { library.tags.insert("y") }, change: { tags.removeAll() })
      #expect(library.tags.isEmpty)
      library.numbers = [1, 2]
      let numbers = library.mutableArrayValue(for: \.numbers)
      let ofList = told(
        \.numbers, before: { library.numbers[0] = 9 }, change: { #expect(numbers.remove(at: 0) == 9) })
      #expect(ofList.last == "[9]>-" && library.numbers == [2])
    }
  }

  /// Provides a list for a key that cannot be set.
  @KeyValueObservable
  private final class ReadOnlyShelf {
    func value(forUndefinedKey key: String) -> Any? { key == "books" ? ["a", "b"] : nil }
  }

  /// Raises a fault of its own at each change.
  private final class FaultyObserver: KeyValueObserver {
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { Library().mutableArrayValue(forKey: "tags").append("wrong") }
  }
#endif
