// The option .collectionChanges: changes of a property's value are delivered as changes of its elements.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Nothing: Equatable, CustomStringConvertible {
    var description: String { "nothing" }
  }

  @KeyValueObservable
  private final class Figures {
    var values: [Double] = []
    var nothings: [Nothing] = []
    var mixed: [any CustomStringConvertible] = []
  }

  @Suite("Collection changes")
  struct CollectionChangesTests {
    let library = Library()
    let log = Log()
    let asked: NSKeyValueObservingOptions = [.old, .new, .collectionChanges]

    /// Runs a mutation of the numbers 10, 20, 30, 40 and returns the changes that an observer received.
    private func delivered(_ mutate: (Library) -> Void) -> [String] {
      library.numbers = [10, 20, 30, 40]
      let token = library.log(\.numbers, asked, to: log)
      mutate(library)
      token.invalidate()
      return log.take()
    }

    @Test func `Mutations in place are delivered as insertions, removals and replacements`() {
      #expect(delivered { $0.numbers.append(50) } == ["insertion [4] ->[50]"])
      #expect(delivered { $0.numbers.insert(contentsOf: [1, 2], at: 1) } == ["insertion [1, 2] ->[1, 2]"])
      #expect(delivered { $0.numbers.remove(at: 1) } == ["removal [1] [20]>-"])
      #expect(delivered { $0.numbers.removeAll() } == ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-"])
      #expect(delivered { $0.numbers[2] = 31 } == ["replacement [2] [30]>[31]"])
      #expect(delivered { $0.numbers.swapAt(0, 3) } == ["replacement [0, 3] [10, 40]>[40, 10]"])
      #expect(delivered { $0.numbers.sort(by: >) } == ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"])
    }

    @Test func `Setting the whole value is delivered as its differences, in two changes at most`() {
      #expect(delivered { $0.numbers = [10, 20, 30, 40, 50] } == ["insertion [4] ->[50]"])
      #expect(delivered { $0.numbers = [10, 40] } == ["removal [1, 2] [20, 30]>-"])
      #expect(delivered { $0.numbers = [10, 21, 30, 41] } == ["replacement [1, 3] [20, 40]>[21, 41]"])
      #expect(
        delivered { $0.numbers = [10, 1, 2, 3, 40] } == ["replacement [1, 2] [20, 30]>[1, 2]", "insertion [3] ->[3]"])
      #expect(delivered { $0.numbers = [10, 1, 40] } == ["replacement [1] [20]>[1]", "removal [2] [30]>-"])
    }

    @Test func `A second change that an observer has made obsolete meanwhile is not delivered`() {
      library.numbers = [10, 20, 30, 40]
      nonisolated(unsafe) var calls = 0
      let log = log
      let token = library.observe(\.numbers, options: asked) { library, change in
        log.add(text(change))
        calls += 1
        if calls == 1 { library.numbers = [10, 1, 30, 40] }
      }
      library.numbers = [10, 1, 40]
      #expect(log.lines == ["replacement [1] [20]>[1]", "setting [10, 1, 30, 40]>[10, 1, 30, 40]"])
      token.invalidate()
    }

    @Test func `Elements that are equal but have different bytes have not changed`() {
      let long = "a text that does not fit into the string itself"
      library.names = [long, "b", long]
      let token = library.log(\.names, asked, to: log)
      library.names = [String(long.map { $0 }), "b", "c", String(long.map { $0 })]
      #expect(log.take() == ["insertion [2] ->[\"c\"]"])
      token.invalidate()
    }

    @Test func `A number that is not equal to itself has not changed either`() {
      let shelf = Figures()
      shelf.values = [.nan, 1, .nan]
      let token = shelf.log(\.values, asked, to: log)
      shelf.values.append(2)
      shelf.values[1] = -0.0
      shelf.values[1] = 0.0
      #expect(
        log.take() == [
          "insertion [3] ->[2.0]", "replacement [1] [1.0]>[-0.0]", "setting [nan, -0.0, nan, 2.0]>[nan, 0.0, nan, 2.0]",
        ])
      token.invalidate()
    }

    @Test func `Elements of size zero, and of a protocol type, are compared`() {
      let figures = Figures()
      let tokens = [figures.log(\.nothings, asked, to: log), figures.log(\.mixed, asked, to: log)]
      figures.nothings = [Nothing(), Nothing()]
      figures.nothings.removeLast()
      let item = Item("i")
      figures.mixed = [item, 1, "x"]
      figures.mixed.insert(2, at: 1)
      #expect(
        log.take() == [
          "insertion [0, 1] ->[nothing, nothing]", "removal [1] [nothing]>-",
          "insertion [0, 1, 2] ->[i, 1, \"x\"]", "insertion [1] ->[2]",
        ])
      for token in tokens { token.invalidate() }
    }

    @Test func `A change that leaves all elements equal is a setting`() {
      #expect(delivered { $0.numbers = [10, 20, 30, 40] } == ["setting [10, 20, 30, 40]>[10, 20, 30, 40]"])
    }

    @Test func `Without the option the same mutations are settings`() {
      library.numbers = [1]
      let token = library.log(\.numbers, to: log)
      library.numbers.append(2)
      library.numbers.remove(at: 0)
      #expect(log.lines == ["setting [1]>[1, 2]", "setting [1, 2]>[2]"])
      token.invalidate()
    }

    @Test func `Values are delivered if requested, indexes always`() {
      let tokens = [
        library.log(\.numbers, [.collectionChanges], as: "none ", to: log),
        library.log(\.numbers, [.collectionChanges, .new], as: "new ", to: log),
        library.log(\.numbers, [.collectionChanges, .old], as: "old ", to: log),
      ]
      library.numbers = [1]
      #expect(log.take() == ["old insertion [0] ->-", "new insertion [0] ->[1]", "none insertion [0] ->-"])
      library.numbers = [2]
      #expect(log.take() == ["old replacement [0] [1]>-", "new replacement [0] ->[2]", "none replacement [0] ->-"])
      library.numbers = [2]
      #expect(log.take() == ["old setting [2]>-", "new setting ->[2]", "none setting ->-"])
      for token in tokens { token.invalidate() }
    }

    @Test func `The initial notification is a setting with the present value, and so is a prior one`() {
      library.numbers = [1]
      let token = library.log(\.numbers, [.initial, .prior, .old, .new, .collectionChanges], to: log)
      #expect(log.take() == ["setting ->[1]"])
      library.numbers.append(2)
      #expect(log.take() == ["prior setting [1]>-", "insertion [1] ->[2]"])
      token.invalidate()
    }

    @Test func `Changes announced by a proxy or manually are delivered as announced`() {
      library.numbers = [7, 7, 7]
      let token = library.log(\.numbers, asked, to: log)
      library.mutableArrayValue(for: \.numbers).insert(7, at: 0)
      library.mutableArrayValue(for: \.numbers).remove(at: 1)
      #expect(log.take() == ["insertion [0] ->[7]", "removal [1] [7]>-"])
      library.numbers = [1, 2]
      _ = log.take()
      library.mutableArrayValue(for: \.numbers).setArray([1, 3])
      #expect(log.take() == ["removal [0, 1] [1, 2]>-", "insertion [0, 1] ->[1, 3]"])
      token.invalidate()
      library.hidden = [1]
      let other = library.log(\.hidden, asked, to: log)
      library.willChange(.insertion, valuesAt: [0], for: \.hidden)
      library.hidden = [1, 1]
      library.didChange(.insertion, valuesAt: [0], for: \.hidden)
      library.willChange(.insertion, valuesAt: [0], for: \.hidden)
      library.hidden = [1, 1, 9]
      library.didChange(.insertion, valuesAt: [0], for: \.hidden)
      #expect(log.take() == ["insertion [0] ->[1]", "insertion [2] ->[9]"])
      other.invalidate()
    }

    @Test func `Sets deliver added members, removed members, or both`() {
      library.tags = ["a", "b"]
      let token = library.log(\.tags, asked, to: log)
      library.tags.insert("c")
      library.tags.remove("a")
      library.tags = ["c", "d"]
      library.tags.insert("d")
      library.mutableSetValue(for: \.tags).insert("d")
      #expect(
        log.lines == [
          "insertion ->{c}", "removal {a}>-", "replacement {b}>{d}", "setting {c d}>{c d}", "insertion ->{}",
        ])
      token.invalidate()
    }

    @Test func `Optional collections are compared; changes from and to nil are settings`() {
      let token = library.log(\.names, asked, to: log)
      library.names = ["a"]
      library.names?.append("b")
      library.names = nil
      #expect(log.lines == ["setting nil>[\"a\"]", "insertion [1] ->[\"b\"]", "setting [\"a\", \"b\"]>nil"])
      token.invalidate()
    }

    @Test func `Objects are compared by identity, values by Equatable; other values are delivered as a setting`() {
      let shelf = Shelf()
      let (first, second) = (Shelf(), Shelf())
      let tokens = [
        shelf.observe(\.objects, options: asked) { [log] _, change in
          log.add("\(change.kind) \(change.indexes.map(Array.init) ?? [])")
        },
        shelf.observe(\.opaque, options: asked) { [log] _, change in
          log.add("\(change.kind) \(change.newValue?.map(\.value) ?? [])")
        },
        shelf.log(\.matrix, asked, to: log), shelf.log(\.visitors, asked, to: log),
      ]
      shelf.objects = [first, second]
      shelf.objects.swapAt(0, 1)
      shelf.objects.removeLast()
      #expect(log.take() == ["insertion [0, 1]", "replacement [0, 1]", "removal [1]"])
      shelf.opaque.append(Opaque(value: 1))
      shelf.opaque.append(Opaque(value: 2))
      for _ in 1...2 { shelf.opaque[1] = shelf.opaque[1] }
      #expect(log.take() == ["insertion [1]"] + Array(repeating: "setting [1, 2]", count: 3))
      shelf.matrix = [[1], [2]]
      shelf.matrix[1].append(3)
      #expect(log.take() == ["insertion [0, 1] ->[[1], [2]]", "replacement [1] [[2]]>[[2, 3]]"])
      shelf.visitors = [1, "a"]
      shelf.visitors[1] = "b"
      #expect(log.take() == ["insertion [0, 1] ->[1, \"a\"]", "replacement [1] [\"a\"]>[\"b\"]"])
      for token in tokens { token.invalidate() }
    }

    @Test func `Contiguous arrays and ordered sets are compared too`() {
      let token = library.log(\.dense, asked, to: log)
      library.dense.append(4)
      #expect(log.take() == ["insertion [3] ->[4]"])
      token.invalidate()
      let other = library.log(\.ordered, asked, to: log)
      library.ordered = ["a", "b"]
      library.ordered = ["a"]
      #expect(log.take() == ["insertion [0, 1] ->[\"a\", \"b\"]", "removal [1] [\"b\"]>-"])
      other.invalidate()
    }

    @Test func `A path that ends with a collection is compared, also when an object on it is replaced`() {
      let shelf = Shelf()
      let other = Library()
      other.numbers = [1, 2, 3]
      let token = shelf.log(\.library.numbers, asked, to: log)
      shelf.library.numbers = [1, 2]
      shelf.library = other
      other.numbers[0] = 0
      #expect(
        log.lines == ["insertion [0, 1] ->[1, 2]", "insertion [2] ->[3]", "replacement [0] [1]>[0]"])
      token.invalidate()
    }

    @Test func `A computed collection is compared`() {
      let token = library.log(\.computed, asked, to: log)
      library.numbers.append(1)
      #expect(log.lines == ["insertion [0] ->[1]"])
      token.invalidate()
    }

    @Test func `The option has no effect on other properties`() {
      let token = library.log(\.title, asked, to: log)
      library.title = "a"
      #expect(log.lines == ["setting >a"])
      token.invalidate()
    }

    @Test func `A classic observer receives them in its change dictionary, for a key and for a path`() {
      let recorder = ClassicRecorder(log)
      library.branch = Library()
      library.addObserver(recorder, forKeyPath: "numbers", options: [.old, .new, .prior, .initial, .collectionChanges])
      library.addObserver(recorder, forKeyPath: "branch.numbers", options: [.new, .collectionChanges])
      library.addObserver(recorder, forKeyPath: "ordered", options: [.new, .collectionChanges])
      #expect(log.take() == ["numbers 1 ->[]"])
      library.numbers = [1, 2]
      library.numbers.removeFirst()
      #expect(
        log.take() == [
          "prior numbers 1 []>-", "numbers 2 [0, 1] ->[1, 2]", "prior numbers 1 [1, 2]>-", "numbers 3 [0] [1]>-",
        ])
      library.branch?.numbers.append(3)
      library.branch = nil
      #expect(log.take() == ["branch.numbers 2 [0] ->[3]", "branch.numbers 1 -><null>"])
      library.ordered = ["a"]
      #expect(log.take() == ["ordered 2 [0] ->[\"a\"]"])
      library.numbers = [7, 7, 7]
      _ = log.take()
      library.mutableArrayValue(forKey: "numbers").insert(7, at: 1)
      #expect(log.take().last == "numbers 2 [1] ->[7]")  // equal elements: only the announcement says where
      for path in ["numbers", "branch.numbers", "ordered"] { library.removeObserver(recorder, forKeyPath: path) }
    }

    @Test(arguments: 0..<20) func `Applying the changes to a copy always results in the collection`(seed: UInt64) {
      var random = Seeded(state: seed)
      nonisolated(unsafe) var copy: [Int] = []
      nonisolated(unsafe) var copyOfTags: Set<String> = []
      library.numbers = []
      let tokens = [
        library.observe(\.numbers, options: asked) { library, change in apply(change, to: &copy) },
        library.observe(\.tags, options: asked) { library, change in apply(change, to: &copyOfTags) },
      ]
      for _ in 0..<300 {
        edit(&library.numbers, &random)
        #expect(copy == library.numbers)
        library.tags = Set((0..<6).filter { _ in Bool.random(using: &random) }.map(String.init))
        #expect(copyOfTags == library.tags)
      }
      for token in tokens { token.invalidate() }
    }

    @Test(arguments: 0..<10) func `It also does if observers change the collection, and for later observers`(
      seed: UInt64
    ) {
      nonisolated(unsafe) var random = Seeded(state: seed)
      nonisolated(unsafe) var copies: [[Int]] = [[], []]
      nonisolated(unsafe) var depth = 0
      let tokens = [0, 1].map { index in
        library.observe(\.numbers, options: asked) { library, change in
          apply(change, to: &copies[index])
          guard depth < 3, Int.random(in: 0..<3, using: &random) == 0 else { return }
          depth += 1
          edit(&library.numbers, &random)
          depth -= 1
        }
      }
      for _ in 0..<200 {
        edit(&library.numbers, &random)
        #expect(copies == [library.numbers, library.numbers])
      }
      for token in tokens { token.invalidate() }
    }

    @Test func `An observer removed between two changes does not receive the second`() {
      library.numbers = [1, 2]
      nonisolated(unsafe) var token: NSKeyValueObservation?
      token = library.observe(\.numbers, options: asked) { [log] _, change in
        log.add(text(change))
        token?.invalidate()
      }
      library.numbers = [3, 4, 5]
      #expect(log.lines == ["replacement [0, 1] [1, 2]>[3, 4]"])
    }
  }

  /// Makes one random mutation.
  func edit(_ numbers: inout [Int], _ random: inout Seeded) {
    func number() -> Int { Int.random(in: 0..<4, using: &random) }
    let position = Int.random(in: 0...numbers.count, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: numbers.append(number())
    case 1: numbers.insert(number(), at: position)
    case 2: numbers.removeSubrange(position..<min(position + 2, numbers.count))
    case 3: if position < numbers.count { numbers[position] = number() }
    case 4: numbers.shuffle(using: &random)
    case 5: numbers = (0..<Int.random(in: 0..<9, using: &random)).map { _ in number() }
    case 6: numbers.reverse()
    default: numbers.removeAll { $0 == 1 }
    }
  }

  func apply(_ change: NSKeyValueObservedChange<[Int]>, to copy: inout [Int]) {
    let positions = change.indexes.map(Array.init) ?? []
    switch change.kind {
    case .setting: copy = change.newValue!
    case .insertion: for (position, element) in zip(positions, change.newValue!) { copy.insert(element, at: position) }
    case .removal:
      #expect(positions.map { copy[$0] } == change.oldValue)
      for position in positions.reversed() { copy.remove(at: position) }
    case .replacement:
      #expect(positions.map { copy[$0] } == change.oldValue)
      for (position, element) in zip(positions, change.newValue!) { copy[position] = element }
    }
  }

  func apply(_ change: NSKeyValueObservedChange<Set<String>>, to copy: inout Set<String>) {
    if change.kind == .setting {
      copy = change.newValue!
      return
    }
    copy.subtract(change.oldValue ?? [])
    copy.formUnion(change.newValue ?? [])
  }

  /// The SplitMix64 generator.
  struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }
#endif
