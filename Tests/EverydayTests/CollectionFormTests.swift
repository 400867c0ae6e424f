// However a collection is changed, each form that delivers whole values delivers the whole collection.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A change of a collection's elements")
  struct CollectionFormTests {
    private let list = SharedList()
    private let queue = DispatchQueue(label: "serial")

    /// Each changes the elements, which are 1, 2, 3 before.
    private static let ofItems: [@Sendable (SharedList) -> Void] = [
      { $0.mutableArrayValue(for: \.items).append(4) },
      { $0.mutableArrayValue(for: \.items).insert([8, 9], at: [0, 2]) },
      { $0.mutableArrayValue(for: \.items).remove(at: [0, 2]) }, { $0.mutableArrayValue(for: \.items)[0] = 7 },
      { $0.mutableArrayValue(for: \.items).move(fromOffsets: [0], toOffset: 3) },
      { $0.mutableArrayValue(for: \.items).setArray([5]) },
      { list in
        withCoalescedChanges(of: list) {
          list.mutableArrayValue(for: \.items).removeAll()
          list.mutableArrayValue(for: \.items).append(6)
        }
      },
      { $0.items = [] }, { $0.items.removeLast() },
    ]
    private static let ofMarks: [@Sendable (SharedList) -> Void] = [
      { $0.mutableSetValue(for: \.marks).insert(4) }, { $0.mutableSetValue(for: \.marks).formIntersection([1, 9]) },
      { $0.mutableSetValue(for: \.marks).formSymmetricDifference([1, 4]) },
      { $0.mutableSetValue(for: \.marks).removeAll() }, { $0.marks = [] },
    ]

    @Test("is delivered as the whole collection by each form, and set so by each binding")
    func whole() {
      for (row, change) in Self.ofItems.enumerated() { check(\.items, [1, 2, 3], change, "items \(row)") }
      for (row, change) in Self.ofMarks.enumerated() { check(\.marks, [1, 2, 3], change, "marks \(row)") }
    }

    private func check<Value: Hashable & Sendable>(
      _ path: ReferenceWritableKeyPath<SharedList, Value> & Sendable, _ before: Value,
      _ change: (SharedList) -> Void, _ row: String
    ) {
      let (bound, twoWay, log) = (SharedList(), SharedList(), Log<(form: String, value: Value)>())
      list[keyPath: path] = before
      let source = list.source(path)
      source.bind(to: bound, path)
      twoWay.bindTwoWay(path, with: list, path)
      let tokens = [
        list.onChange(of: path) { _, new in log.add(("onChange", new)) },
        source.delivered(on: queue).onChange { _, new in log.add(("delivered", new)) },
        source.delivered(on: queue).coalesced().onChange { _, new in log.add(("merged", new)) },
        list.source(path, \.other).onChange(for: list) { _, _, new in log.add(("several", new.0)) },
        source.onChange { _, new in log.add(("source", new)) },
        source.map { $0 }.onChange { _, new in log.add(("map", new)) },
        source.filter { _ in true }.removeDuplicates().onChange { _, new in log.add(("removeDuplicates", new)) },
        KeyValueSource.combineLatest(source, list.source(\.other)) { items, _ in items }
          .onChange { _, new in log.add(("combineLatest", new)) },
        KeyValueSource.merge(source, bound.source(path)).onChange { _, new in log.add(("merge", new)) },
        KeyValueSource { [list] in list[keyPath: path] }.onChange { _, new in log.add(("expression", new)) },
      ]
      change(list)
      for _ in 1...4 { queue.sync {} }
      let after = list[keyPath: path]
      #expect(after != before, "\(row)")
      let last = Dictionary(log.all.map { ($0.form, $0.value) }) { $1 }
      #expect(last.count == tokens.count, "\(row): \(last.keys.sorted())")
      for (form, value) in last { #expect(value == after, "\(row): \(form)") }
      #expect(bound[keyPath: path] == after, "\(row): bind")
      #expect(twoWay[keyPath: path] == after, "\(row): bind, both ways")
      for token in tokens { token.invalidate() }
    }
  }
#endif
