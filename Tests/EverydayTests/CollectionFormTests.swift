// However a collection is changed, each form that tells whole values tells the whole collection.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A change of a collection's elements")
  struct CollectionFormTests {
    let list = SharedList()
    let log = Log<String>()
    let queue = DispatchQueue(label: "serial")

    private typealias Mutation = (name: String, mutate: @Sendable (SharedList) -> Void)

    /// Each changes the elements: they are 1, 2, 3 before, and never the same after.
    private static let mutations: [Mutation] = [
      ("append", { $0.mutableArrayValue(for: \.items).append(4) }),
      ("insert", { $0.mutableArrayValue(for: \.items).insert([8, 9], at: [0, 2]) }),
      ("remove", { $0.mutableArrayValue(for: \.items).remove(at: 1) }),
      ("remove several", { $0.mutableArrayValue(for: \.items).remove(at: [0, 2]) }),
      ("remove all", { $0.mutableArrayValue(for: \.items).removeAll() }),
      ("replace", { $0.mutableArrayValue(for: \.items)[0] = 7 }),
      ("move", { $0.mutableArrayValue(for: \.items).move(fromOffsets: [0], toOffset: 3) }),
      ("reverse", { $0.mutableArrayValue(for: \.items).reverse() }),
      ("set all", { $0.mutableArrayValue(for: \.items).setArray([5]) }),
      (
        "coalesced",
        { list in
          withCoalescedChanges(of: list) {
            list.mutableArrayValue(for: \.items).removeAll()
            list.mutableArrayValue(for: \.items).append(6)
          }
        }
      ),
      ("setter", { $0.items = [] }), ("in place", { $0.items.removeLast() }),
      ("set, insert", { $0.mutableSetValue(for: \.marks).insert(4) }),
      ("set, remove", { $0.mutableSetValue(for: \.marks).remove(1) }),
      ("set, intersection", { $0.mutableSetValue(for: \.marks).formIntersection([1, 9]) }),
      ("set, symmetric difference", { $0.mutableSetValue(for: \.marks).formSymmetricDifference([1, 4]) }),
      ("set, remove all", { $0.mutableSetValue(for: \.marks).removeAll() }),
      ("set, setter", { $0.marks = [] }),
    ]

    /// The last value that each form has told, or has set.
    private final class Told: @unchecked Sendable {
      private let lock = NSLock()
      private var last: [String: String] = [:]
      @Sendable func tell(_ form: String, _ value: String) { lock.withLock { last[form] = value } }
      var all: [String: String] { lock.withLock { last } }
    }

    private func text(_ items: [Int]) -> String { "\(items)" }
    private func text(_ marks: Set<Int>) -> String { "\(marks.sorted())" }

    private func observe<Value: Equatable & Sendable>(
      _ path: ReferenceWritableKeyPath<SharedList, Value> & Sendable, _ told: Told, _ bound: SharedList,
      _ twoWay: SharedList, _ text: @escaping @Sendable (Value) -> String
    ) -> [NSKeyValueObservation] {
      let source = list.source(path)
      source.bind(to: bound, path)
      twoWay.bindTwoWay(path, with: list, path)
      return [
        list.onChange(of: path) { _, new in told.tell("onChange", text(new)) },
        list.source(path).delivered(on: queue).onChange { _, new in told.tell("delivered", text(new)) },
        list.source(path).delivered(on: queue).coalesced().onChange { _, new in
          told.tell("delivered, merged", text(new))
        },
        list.source(path, \.other).onChange(for: list) { _, _, new in told.tell("several", text(new.0)) },
        source.onChange { _, new in told.tell("source", text(new)) },
        source.map { $0 }.onChange { _, new in told.tell("map", text(new)) },
        source.filter { _ in true }.removeDuplicates().onChange { _, new in told.tell("removeDuplicates", text(new)) },
        KeyValueSource.combineLatest(source, list.source(\.other)) { items, _ in items }
          .onChange { _, new in told.tell("combineLatest", text(new)) },
        KeyValueSource.merge(source, bound.source(path)).onChange { _, new in told.tell("merge", text(new)) },
        KeyValueSource { [list] in list[keyPath: path] }.onChange { _, new in told.tell("expression", text(new)) },
      ]
    }

    @Test("tells the whole collection by each form, and sets it by each binding", arguments: mutations.indices)
    func whole(_ index: Int) {
      let (name, mutate) = Self.mutations[index]
      let (told, bound, twoWay) = (Told(), SharedList(), SharedList())
      (list.items, list.marks) = ([1, 2, 3], [1, 2, 3])
      let isSet = name.hasPrefix("set,")
      let tokens =
        isSet
        ? observe(\.marks, told, bound, twoWay) { "\($0.sorted())" } : observe(\.items, told, bound, twoWay) { "\($0)" }
      mutate(list)
      for _ in 1...4 { queue.sync {} }
      let expected = isSet ? text(list.marks) : text(list.items)
      #expect(expected != "[1, 2, 3]")
      #expect(told.all.count == tokens.count, "\(name): \(told.all.keys.sorted())")
      for (form, value) in told.all { #expect(value == expected, "\(name): \(form)") }
      #expect((isSet ? text(bound.marks) : text(bound.items)) == expected, "\(name): bind")
      #expect((isSet ? text(twoWay.marks) : text(twoWay.items)) == expected, "\(name): bind, both ways")
      for token in tokens { token.invalidate() }
    }
  }
#endif
