// The option .collectionChanges: changes of a property's value are delivered as changes of its elements.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Nothing: Equatable, CustomStringConvertible {
    var description: String { "nothing" }
  }

  /// A number of one byte, of which 255 is not equal to itself.
  private struct Grade: Equatable, CustomStringConvertible {
    let value: UInt8
    var description: String { "\(value)" }
    static func == (first: Grade, second: Grade) -> Bool { first.value == second.value && first.value != 255 }
  }

  @KeyValueObservable
  private final class Figures {
    var values: [Double] = []
    var nothings: [Nothing] = []
    var grades: [Grade] = []
    var mixed: [any CustomStringConvertible] = []
  }

  @Suite("Collection changes")
  struct CollectionChangesTests {
    let library = Library()
    let log = Log()
    let asked: NSKeyValueObservingOptions = [.old, .new, .collectionChanges]

    /// Runs a mutation of the numbers 10, 20, 30, 40 and returns the changes that an observer received.
    private func delivered(_ mutate: () -> Void) -> [String] {
      library.numbers = [10, 20, 30, 40]
      return library.changes(of: \.numbers, asked, mutate)
    }

    @Test func `Mutations in place are delivered as insertions, removals and replacements`() {
      #expect(delivered { library.numbers.append(50) } == ["insertion [4] ->[50]"])
      #expect(delivered { library.numbers.insert(contentsOf: [1, 2], at: 1) } == ["insertion [1, 2] ->[1, 2]"])
      #expect(delivered { library.numbers.remove(at: 1) } == ["removal [1] [20]>-"])
      #expect(delivered { library.numbers.removeAll() } == ["removal [0, 1, 2, 3] [10, 20, 30, 40]>-"])
      #expect(delivered { library.numbers[2] = 31 } == ["replacement [2] [30]>[31]"])
      #expect(delivered { library.numbers.swapAt(0, 3) } == ["replacement [0, 3] [10, 40]>[40, 10]"])
      #expect(
        delivered { library.numbers.sort(by: >) } == ["replacement [0, 1, 2, 3] [10, 20, 30, 40]>[40, 30, 20, 10]"])
    }

    @Test func `Setting the whole value is delivered as its differences, in two changes at most`() {
      #expect(delivered { library.numbers = [10, 20, 30, 40, 50] } == ["insertion [4] ->[50]"])
      #expect(delivered { library.numbers = [10, 40] } == ["removal [1, 2] [20, 30]>-"])
      #expect(delivered { library.numbers = [10, 21, 30, 41] } == ["replacement [1, 3] [20, 40]>[21, 41]"])
      #expect(
        delivered { library.numbers = [10, 1, 2, 3, 40] } == [
          "replacement [1, 2] [20, 30]>[1, 2]", "insertion [3] ->[3]",
        ])
      #expect(delivered { library.numbers = [10, 1, 40] } == ["replacement [1] [20]>[1]", "removal [2] [30]>-"])
      #expect(delivered { library.numbers = [10, 20, 30, 40] } == ["setting [10, 20, 30, 40]>[10, 20, 30, 40]"])
    }

    @Test func `Elements are compared with ==, whatever their bytes, size or type are`() {
      let long = "a text that does not fit into the string itself"
      library.names = [long, "b", long]
      let names = library.changes(of: \.names, asked) {
        library.names = [String(long.map { $0 }), "b", "c", String(long.map { $0 })]
      }
      #expect(names == ["insertion [2] ->[\"c\"]"])
      let figures = Figures()
      let nothings = figures.changes(of: \.nothings, asked) {
        figures.nothings = [Nothing(), Nothing()]
        figures.nothings.removeLast()
      }
      #expect(nothings == ["insertion [0, 1] ->[nothing, nothing]", "removal [1] [nothing]>-"])
      let mixed = figures.changes(of: \.mixed, asked) {
        figures.mixed = [5, "x"]
        figures.mixed.insert(2, at: 1)
        figures.mixed[1] = 1
      }
      #expect(mixed == ["insertion [0, 1] ->[5, \"x\"]", "insertion [1] ->[2]", "replacement [1] [2]>[1]"])
    }

    @Test func `An element that is not equal to itself has not changed`() {
      let figures = Figures()
      figures.values = [.nan, 1, .nan]
      let values = figures.changes(of: \.values, asked) {
        figures.values.append(2)
        figures.values.insert(5, at: 0)
        figures.values[2] = -0.0
        figures.values[2] = 0.0
      }
      #expect(
        values == [
          "insertion [3] ->[2.0]", "insertion [0] ->[5.0]", "replacement [2] [1.0]>[-0.0]",
          "setting [5.0, nan, -0.0, nan, 2.0]>[5.0, nan, 0.0, nan, 2.0]",
        ])
      figures.grades = [Grade(value: 255), Grade(value: 1)]
      let grades = figures.changes(of: \.grades, asked) { figures.grades[1] = Grade(value: 2) }
      #expect(grades == ["replacement [1] [1]>[2]"])
    }

    @Test func `Without .collectionChanges all mutations are settings, and it has no effect on other properties`() {
      library.numbers = [1]
      let numbers = library.changes(of: \.numbers) {
        library.numbers.append(2)
        library.numbers.remove(at: 0)
      }
      #expect(numbers == ["setting [1]>[1, 2]", "setting [1, 2]>[2]"])
      #expect(library.changes(of: \.title, asked) { library.title = "a" } == ["setting >a"])
    }

    @Test func `Values are delivered if requested, indexes always`() {
      let rows: [(options: NSKeyValueObservingOptions, changes: [String])] = [
        ([], ["insertion [0] ->-", "replacement [0] ->-"]), ([.new], ["insertion [0] ->[1]", "replacement [0] ->[2]"]),
        ([.old], ["insertion [0] ->-", "replacement [0] [1]>-"]),
      ]
      for (options, changes) in rows {
        library.numbers = []
        let delivered = library.changes(of: \.numbers, options.union(.collectionChanges)) {
          library.numbers = [1]
          library.numbers = [2]
        }
        #expect(delivered == changes)
      }
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
      let numbers = library.mutableArrayValue(for: \.numbers)
      let byProxy = library.changes(of: \.numbers, asked) {
        numbers.insert(7, at: 0)
        numbers.remove(at: 1)
        numbers.setArray([1, 3])
      }
      #expect(
        byProxy == [
          "insertion [0] ->[7]", "removal [1] [7]>-", "removal [0, 1, 2] [7, 7, 7]>-", "insertion [0, 1] ->[1, 3]",
        ])
      func insertion(of before: [Int], at position: Int, to after: [Int]) -> [String] {
        library.hidden = before
        return library.changes(of: \.hidden, asked) {
          library.willChange(.insertion, valuesAt: [position], for: \.hidden)
          library.hidden = after
          library.didChange(.insertion, valuesAt: [position], for: \.hidden)
        }
      }
      #expect(insertion(of: [1], at: 0, to: [1, 1]) == ["insertion [0] ->[1]"])
      // Indexes that do not describe the whole change are not used for a part of it.
      #expect(insertion(of: [1, 1], at: 0, to: [1, 1, 9]) == ["insertion [2] ->[9]"])
      #expect(
        insertion(of: [5, 7, 7], at: 1, to: [6, 7, 7, 7]) == ["replacement [0] [5]>[6]", "insertion [3] ->[7]"])
    }

    @Test func `Sets deliver added members, removed members, or both`() {
      library.tags = ["a", "b"]
      let tags = library.changes(of: \.tags, asked) {
        library.tags.insert("c")
        library.tags.remove("a")
        library.tags = ["c", "d"]
        library.tags.insert("d")
        library.mutableSetValue(for: \.tags).insert("d")
      }
      #expect(
        tags == ["insertion ->{c}", "removal {a}>-", "replacement {b}>{d}", "setting {c d}>{c d}", "insertion ->{}"])
    }

    @Test func `Optional collections are compared; changes from and to nil are settings`() {
      let names = library.changes(of: \.names, asked) {
        library.names = ["a"]
        library.names?.append("b")
        library.names = nil
      }
      #expect(names == ["setting nil>[\"a\"]", "insertion [1] ->[\"b\"]", "setting [\"a\", \"b\"]>nil"])
    }

    @Test func `Objects are compared by identity; changes of values that cannot be compared are settings`() {
      let shelf = Shelf()
      let (first, second) = (Shelf(), Shelf())
      let tokens = [
        shelf.observe(\.objects, options: asked) { [log] _, change in
          log.add("\(change.kind) \(change.indexes.map(Array.init) ?? [])")
        },
        shelf.observe(\.opaque, options: asked) { [log] _, change in
          log.add("\(change.kind) \(change.newValue?.map(\.value) ?? [])")
        },
      ]
      shelf.objects = [first, second]
      shelf.objects.swapAt(0, 1)
      shelf.objects.removeLast()
      #expect(log.take() == ["insertion [0, 1]", "replacement [0, 1]", "removal [1]"])
      shelf.opaque.append(Opaque(value: 1))
      shelf.opaque.append(Opaque(value: 2))
      shelf.opaque[1] = shelf.opaque[1]
      shelf.mutableArrayValue(for: \.opaque).append(Opaque(value: 3))
      #expect(log.take() == ["insertion [1]", "setting [1, 2]", "setting [1, 2]", "setting [1, 2, 3]"])
      for token in tokens { token.invalidate() }
    }

    @Test func `Contiguous arrays, ordered sets, nested lists and computed properties are compared too`() {
      #expect(library.changes(of: \.dense, asked) { library.dense.append(4) } == ["insertion [3] ->[4]"])
      let ordered = library.changes(of: \.ordered, asked) {
        library.ordered = ["a", "b"]
        library.ordered = ["a"]
      }
      #expect(ordered == [#"insertion [0, 1] ->["a", "b"]"#, #"removal [1] ["b"]>-"#])
      let shelf = Shelf()
      shelf.matrix = [[1], [2]]
      #expect(shelf.changes(of: \.matrix, asked) { shelf.matrix[1].append(3) } == ["replacement [1] [[2]]>[[2, 3]]"])
      #expect(library.changes(of: \.computed, asked) { library.numbers.append(1) } == ["insertion [0] ->[1]"])
    }

    @Test func `A path that ends with a collection is compared, also when an object on it is replaced`() {
      let shelf = Shelf()
      let other = Library()
      other.numbers = [1, 2, 3]
      let changes = shelf.changes(of: \.library.numbers, asked) {
        shelf.library.numbers = [1, 2]
        shelf.library = other
        other.numbers[0] = 0
      }
      #expect(changes == ["insertion [0, 1] ->[1, 2]", "insertion [2] ->[3]", "replacement [0] [1]>[0]"])
    }

    @Test func `A classic observer receives changes of elements in its change dictionary, for a key and for a path`() {
      let recorder = ClassicRecorder(log)
      library.branch = Library()
      library.addObserver(recorder, forKeyPath: "numbers", options: [.old, .new, .prior, .initial, .collectionChanges])
      library.addObserver(recorder, forKeyPath: "branch.numbers", options: [.new, .collectionChanges])
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
      for path in ["numbers", "branch.numbers"] { library.removeObserver(recorder, forKeyPath: path) }
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

    @Test(arguments: 0..<10)
    func `Applying the changes results in the collection also if observers change it meanwhile`(
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

  func apply(_ change: NSKeyValueObservedChange<Set<String>>, to copy: inout Set<String>) {
    if change.kind == .setting {
      copy = change.newValue!
      return
    }
    copy.subtract(change.oldValue ?? [])
    copy.formUnion(change.newValue ?? [])
  }
#endif
