// The property of a proxy: paths, kinds of properties, storage, reentrancy, threads.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The property of a proxy")
  struct CollectionPlaceTests {
    let library = Library()
    let log = Log()

    @Test func `Observers of a path receive kind and indexes, by string and typed; a new owner is a setting`() {
      let root = Library()
      root.branch = library
      let recorder = ClassicRecorder(log)
      root.addObserver(recorder, forKeyPath: "branch.numbers", options: [.old, .new])
      let token = root.log(\.branch?.numbers, as: "typed ", to: log)
      library.mutableArrayValue(for: \.numbers).append(1)
      library.mutableArrayValue(for: \.numbers)[0] = 2
      root.branch = Library()
      #expect(
        log.lines == [
          "typed insertion [0] ->[1]", "branch.numbers 2 [0] ->[1]", "typed replacement [0] [1]>[2]",
          "branch.numbers 4 [0] [1]>[2]", "typed setting [2]>[]", "branch.numbers 1 [2]>[]",
        ])
      root.removeObserver(recorder, forKeyPath: "branch.numbers")
      token.invalidate()
    }

    @Test func `Dependents of a collection receive a setting`() {
      let token = library.log(\.total, to: log)
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "numbers.@count", options: [.old, .new])
      library.mutableArrayValue(for: \.numbers).append(contentsOf: [1, 2])
      #expect(log.lines == ["numbers.@count 1 0>2", "setting 0>2"])
      library.removeObserver(recorder, forKeyPath: "numbers.@count")
      token.invalidate()
    }

    @Test func `A proxy of a key path keeps referring to the object found at its creation`() {
      let root = Library()
      root.branch = library
      let byString = root.mutableArrayValue(forKeyPath: "branch.numbers", of: Int.self)
      let typed = root.mutableArrayValue(for: \.branch?.numbers)
      let tags = root.mutableSetValue(forKeyPath: "branch.tags", of: String.self)
      let typedTags = root.mutableSetValue(for: \.branch?.tags)
      let ranks = root.mutableOrderedSetValue(forKeyPath: "branch.ranks", of: String.self)
      root.branch = Library()
      byString.append(1)
      typed.append(2)
      tags.insert("a")
      typedTags.insert("b")
      ranks.append("r")
      #expect(library.numbers == [1, 2] && library.tags == ["a", "b"] && library.ranks == ["r"])
      let shelf = Shelf()
      shelf.mutableArrayValue(for: \.library.numbers).append(3)
      #expect(shelf.library.numbers == [3])
    }

    @Test func `With nil on the path a proxy is empty and has no effect`() {
      let byString = library.mutableArrayValue(forKeyPath: "branch.numbers", of: Int.self)
      let typed = library.mutableArrayValue(for: \.branch?.numbers)
      byString.append(1)
      typed.append(1)
      library.mutableSetValue(for: \.branch?.tags).insert("a")
      #expect(byString.isEmpty && typed.isEmpty && library.branch == nil)
    }

    @Test func `A typed key path that does not consist of properties is reported`() {
      library.items = [Item("a")]
      #expect(faults { _ = library.mutableArrayValue(for: \.items[0].copies) }.map(\.code) == [9])
      #expect(faults { _ = library.mutableArrayValue(for: \.numbers.first.descriptions) }.map(\.code) == [9])
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
      library.mutableArrayValue(forKey: "computed", of: Int.self).remove(at: 0)
      library.mutableArrayValue(for: \.computed)[0] = 3
      #expect(
        log.take().filter { $0.hasPrefix("typed") } == ["typed removal [0] [1]>-", "typed replacement [0] [2]>[3]"])
      library.numbers.append(4)  // it still depends on what it reads
      #expect(log.take().contains("typed setting [3]>[3, 4]"))
      for token in [token, storage] { token.invalidate() }
      library.removeObserver(recorder, forKeyPath: "computed")
    }

    @Test func `A computed property with unobserved or unobservable storage does so too`() {
      let tokens = [library.log(\.lines, as: "lines ", to: log), library.log(\.marks, as: "marks ", to: log)]
      library.mutableArrayValue(for: \.lines).append("a")
      library.mutableOrderedSetValue(for: \.lines).append(contentsOf: ["a", "b"])
      library.mutableSetValue(for: \.marks).insert(1)
      #expect(
        log.take() == [#"lines insertion [0] ->["a"]"#, #"lines insertion [1] ->["b"]"#, "marks insertion ->{1}"])
      for token in tokens { token.invalidate() }
    }

    @Test func `Computed sets and ordered sets notify with their changed elements too`() {
      let tokens = [library.log(\.shownTags, to: log), library.log(\.shownRanks, to: log)]
      library.mutableSetValue(for: \.shownTags).formUnion(["a", "b"])
      library.mutableSetValue(for: \.shownTags).remove("a")
      library.mutableOrderedSetValue(for: \.shownRanks).append("r")
      #expect(log.lines == ["insertion ->{a b}", "removal {a}>-", #"insertion [0] ->["r"]"#])
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

    @Test func `A setter that stores twice and announces manually notifies once through the proxy`() {
      let token = library.log(\.twice, to: log)
      library.mutableArrayValue(for: \.twice).append(1)
      #expect(log.take() == ["insertion [0] ->[1]"])
      library.twice = [7]
      #expect(log.lines == ["setting [1]>[]", "setting []>[7]", "setting [7]>[7]"])
      token.invalidate()
    }

    @Test func `A change that an observer of the storage makes meanwhile is told with it, as a setting`() {
      let token = library.log(\.computed, [.new], to: log)
      let meddling = library.observe(\.numbers) { library, _ in
        if library.numbers.count == 1 { library.numbers.append(9) }
      }
      library.mutableArrayValue(for: \.computed).append(1)
      #expect(log.lines == ["setting ->[1, 9]"])
      for token in [token, meddling] { token.invalidate() }
    }

    @Test func `A proxy of a manual key mutates without notifying`() {
      let token = library.log(\.quiet, to: log)
      let quiet = library.mutableArrayValue(for: \.quiet)
      quiet.append(1)
      #expect(log.lines.isEmpty && library.quiet == [1])
      token.invalidate()
    }

    @Test func `A proxy of a stored property that is not observed notifies`() {
      let token = library.log(\.hidden, to: log)
      library.mutableArrayValue(for: \.hidden).append(1)
      #expect(log.lines == ["insertion [0] ->[1]"])
      token.invalidate()
    }

    @Test func `A property with willSet or didSet is set once for each mutation`() {
      let token = library.log(\.watched, to: log)
      let watched = library.mutableArrayValue(for: \.watched)
      watched.append(1)
      watched.sort()
      watched[0] = 2
      #expect(library.stores == 2 && log.lines == ["insertion [0] ->[1]", "replacement [0] [1]>[2]"])
      token.invalidate()
    }

    @Test func `The elements are mutated in place, observed or not`() {
      library.numbers = Array(0..<100_000)
      let numbers = library.mutableArrayValue(forKey: "numbers", of: Int.self)
      library.numbers.reserveCapacity(100_100)
      func address() -> UInt { library.numbers.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
      let before = address()
      numbers.append(1)
      var addresses = [before, address()]
      let token = library.log(\.numbers, [.new], to: log)
      numbers.append(2)
      addresses.append(address())
      numbers[5] = 3
      addresses.append(address())
      numbers.remove(at: [0, 50_000])
      addresses.append(address())
      #expect(Set(addresses).count == 1 && log.lines.count == 3, "\(addresses)")
      token.invalidate()
    }

    @Test func `Key-value coding of a proxy is that of its elements`() {
      library.items = [Item("a"), Item("b")]
      let items = library.mutableArrayValue(for: \.items)
      #expect(items.value(forKey: "name") as? [String] == ["a", "b"])
      #expect(items.value(forKeyPath: "@count") as? Int == 2)
      items.setValue("z", forKey: "name")
      #expect(library.items.map(\.name) == ["z", "z"])
      items.setValue("y", forKeyPath: "name")
      #expect(library.items.map(\.name) == ["y", "y"])
      let ordered = library.mutableOrderedSetValue(for: \.items)
      #expect(ordered.value(forKey: "name") as? [String] == ["y", "y"])
      #expect(ordered.value(forKeyPath: "@count") as? Int == 2)
      ordered.setValue("x", forKey: "name")
      #expect(library.items.map(\.name) == ["x", "x"])
      ordered.setValue("w", forKeyPath: "name")
      #expect(library.items.map(\.name) == ["w", "w"])
      let shelf = Shelf()
      shelf.crew = Set(library.items)
      let crew = shelf.mutableSetValue(for: \.crew)
      #expect(crew.value(forKey: "name") as? Set<AnyHashable> == ["w"])
      #expect(crew.value(forKeyPath: "@count") as? Int == 2)
      crew.setValue("v", forKey: "name")
      #expect(library.items.map(\.name) == ["v", "v"])
      crew.setValue("u", forKeyPath: "name")
      #expect(library.items.map(\.name) == ["u", "u"])
    }
  }

  @Suite("Mutating a collection during a notification")
  struct CollectionReentrancyTests {
    let library = Library()
    let log = Log()

    @Test func `An observer may mutate the same collection, and its mutation notifies too`() {
      nonisolated(unsafe) let numbers = library.mutableArrayValue(for: \.numbers)
      let token = library.observe(\.numbers, options: [.new]) { [log] _, change in
        log.add(text(change))
        if change.newValue == [1] { numbers.insert(0, at: 0) }
        if change.newValue == [0] { numbers.removeAll() }
      }
      numbers.append(1)
      #expect(log.lines == ["insertion [0] ->[1]", "insertion [0] ->[0]", "removal [0, 1] ->-"])
      #expect(library.numbers.isEmpty)
      token.invalidate()
    }

    @Test func `If a prior observer makes the change impossible, it is a fault, and nothing is delivered`() {
      library.numbers = [1, 2]
      nonisolated(unsafe) var isFirst = true
      let token = library.observe(\.numbers, options: [.prior]) { [log] library, change in
        log.add(text(change))
        guard isFirst else { return }
        isFirst = false
        library.numbers = []
      }
      let faults = faults { library.mutableArrayValue(for: \.numbers).remove(at: 1) }
      #expect(faults.map(\.code) == [37] && library.numbers.isEmpty)
      #expect(log.lines == ["prior removal [1] ->-", "prior setting ->-", "setting ->-"])
      token.invalidate()
    }

    @Test func `A prior observer may set an optional collection or set to nil`() {
      library.names = ["a"]
      library.labels = ["a"]
      nonisolated(unsafe) var answers = 0
      let tokens = [
        library.observe(\.names, options: [.prior]) { library, _ in
          answers += 1
          if answers == 1 { library.names = nil }
        },
        library.observe(\.labels, options: [.prior]) { library, change in
          answers += 1
          if answers == 4 { library.labels = nil }
        },
      ]
      #expect(faults { library.mutableArrayValue(for: \.names).append("b") }.map(\.code) == [38])
      #expect(faults { library.mutableSetValue(for: \.labels).insert("b") }.map(\.code) == [38])
      #expect(answers == 6 && library.names == nil && library.labels == nil)
      for token in tokens { token.invalidate() }
    }

    @Test func `Mutations of the key in the property's setter notify, except for the proxy's own`() {
      final class Trimming: Library, @unchecked Sendable {
        override var numbers: [Int] {
          get { super.numbers }
          set {
            super.numbers = newValue
            if newValue.count > 2 { super.numbers = Array(newValue.suffix(2)) }
          }
        }
      }
      let trimming: Library = Trimming()
      let token = trimming.log(\.numbers, to: log)
      let numbers = trimming.mutableArrayValue(for: \.numbers)
      numbers.append(contentsOf: [1, 2])
      numbers.append(3)
      #expect(trimming.numbers == [2, 3])
      #expect(log.lines == ["insertion [0, 1] ->[1, 2]", "setting [1, 2, 3]>[2, 3]", "insertion [2] ->[3]"])
      token.invalidate()
    }

    @Test func `The deinitializer of a removed element may read the collection`() {
      final class Mourned: NSObject {
        let onDeath: () -> Void
        init(_ onDeath: @escaping () -> Void) { self.onDeath = onDeath }
        deinit { onDeath() }
      }
      let any = library.mutableArrayValue(forKey: "anything")
      any.append(Mourned { [unowned library, log] in log.add("\(library.anything.count)") })
      any.append(Mourned { [unowned library, log] in log.add("\(library.anything.count)") })
      any.remove(at: [0])
      any[0] = 1
      #expect(log.lines == ["1", "1"])
    }

    @Test func `A proxy retains its object, and the observation ends with it`() {
      weak var weakLibrary: Library?
      do {
        let handle: KeyValueMutableArray<Int>
        do {
          let other = Library()
          weakLibrary = other
          handle = other.mutableArrayValue(for: \.numbers)
        }
        handle.append(1)
        #expect(weakLibrary?.numbers == [1])
      }
      #expect(weakLibrary == nil)
    }

    @Test func `Threads that mutate under a lock cause one notification per mutation`() async {
      let shared = MemberBox<Int>()
      let list = NumberBox()
      nonisolated(unsafe) var inserted = 0
      nonisolated(unsafe) var appended: [Int] = []
      let tokens = [
        shared.observe(\.members, options: [.new]) { _, change in inserted += change.newValue!.count },
        list.observe(\.numbers, options: [.new]) { _, change in appended += change.newValue! },
      ]
      let lock = NSLock()
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for number in 0..<200 {
              lock.withLock {
                _ = shared.mutableSetValue(for: \.members).insert(worker * 1000 + number)
                list.mutableArrayValue(for: \.numbers).append(number)
              }
            }
          }
        }
      }
      #expect(inserted == 800 && shared.members.count == 800 && appended == list.numbers && appended.count == 800)
      for token in tokens { token.invalidate() }
    }

    @Test @MainActor func `A class of the main actor supports proxies too`() {
      let screen = Screen()
      let token = screen.log(\.rows, to: log)
      screen.mutableArrayValue(for: \.rows).append("a")
      screen.mutableArrayValue(forKey: "rows", of: String.self)[0] = "b"
      screen.mutableSetValue(for: \.selection).insert(1)
      #expect(log.lines == ["insertion [0] ->[\"a\"]", "replacement [0] [\"a\"]>[\"b\"]"])
      #expect(screen.rows == ["b"] && screen.selection == [1])
      token.invalidate()
    }
  }

  @KeyValueObservable
  final class NumberBox: @unchecked Sendable {
    var numbers: [Int] = []
  }

  @KeyValueObservable @MainActor
  final class Screen {
    var rows: [String] = []
    var selection: Set<Int> = []
  }

  extension Int? {
    fileprivate var descriptions: [String] { ["\(self as Any)"] }
  }
#endif
