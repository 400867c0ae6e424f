// Sections L, M and O of Documentation/AppleCompatibility.md: lists, sets, and the elements of arrays.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("L, M, O. Collections")
  struct Collections {
    let t = T()
    let w = Watcher()

    private var list: KeyValueMutableArray<Int> { t.mutableArrayValue(forKey: "list", of: Int.self) }

    /// Returns the changes that an observer of a key receives while a body runs.
    private func delivered(_ key: String, _ body: () -> Void) -> [String] {
      t.add(w, key)
      body()
      t.remove(w, key)
      return w.take()
    }

    @Test func `199: A setting announced with indexes is a setting without them`() {
      let lines = delivered("manualList") {
        t.willChange(.setting, valuesAt: [0], forKey: "manualList")
        t.manualList = [1]
        t.didChange(.setting, valuesAt: [0], forKey: "manualList")
      }
      #expect(lines == ["[]>[1]"])
    }

    @Test func `200, 216: An index out of range raises, nobody is notified, and later changes notify`() {
      var raised: [String?] = []
      let lines = delivered("list") {
        raised = faults {
          list.insert(1, at: 7)
          list.remove(at: 0)
          list.replace(at: [5], with: [1])
        }.map(\.exceptionName)
        list.append(40)
      }
      #expect(raised == Array(repeating: "NSRangeException", count: 3))
      #expect(lines == ["insertion ->[40] at [0]"] && t.list == [40])
    }

    @Test func `214, 215: A proxy notifies while the key is observed, whenever it was created`() {
      let list = list
      #expect(delivered("list") { list.append(1) } == ["insertion ->[1] at [0]"])
      list.append(2)
      #expect(w.lines.isEmpty && t.list == [1, 2])
    }

    @Test func `217, 218, 278: A collection that is nil has count 0, and mutating it raises`() {
      let maybe = t.mutableArrayValue(for: \.maybe)
      #expect(maybe.count == 0)
      #expect(
        sentences { maybe.append(1) } == [
          "NSInternalInconsistencyException T: value for key maybe of object 0xPTR is nil"
        ])
      #expect(t.maybe == nil)
    }

    @Test func `219, 279: The numbers of elements and indexes have to be equal`() {
      t.list = [10, 20, 30]
      let raised = sentences { list.insert([1], at: [0, 1]) }
      #expect(raised.count == 1 && raised[0].hasPrefix("NSInvalidArgumentException "))
      #expect(raised[0].hasSuffix(": the counts of the passed-in array (1) and index set (2) must be identical."))
      #expect(t.list == [10, 20, 30])
    }

    @Test func `224, 388: Key-value coding and operators work on a proxy`() {
      t.children = [T(v: 1), T(v: 2)]
      let children = t.mutableArrayValue(forKey: "children", of: T.self)
      #expect(children.value(forKey: "v") as? [Int] == [1, 2])
      #expect(children.value(forKeyPath: "@sum.v") as? Int == 3)
    }

    @Test func `233: A change of a set has no indexes`() {
      let bag = t.mutableSetValue(for: \.bag)
      _ = delivered("bag") {
        bag.insert(7)
        bag.remove(7)
        bag.setSet([1])
      }
      #expect(w.changes.count == 3 && w.changes.allSatisfy { $0[.indexesKey] == nil })
    }

    @Test func `256, 258: Each element at the indexes is observed, and is the object of its notifications`() {
      let array = [T("a"), T("b"), T("c")]
      array.addObserver(w, toObjectsAt: [0, 2], forKeyPath: "v", options: [.old, .new], context: context(7))
      for each in array { each.v = 1 }
      #expect(w.take() == ["0>1 ctx7", "0>1 ctx7"])
      #expect(w.objects.map { ($0 as? T)?.name } == ["a", "c"])
      #expect(codes { array.removeObserver(w, fromObjectsAt: [0], forKeyPath: "v", context: nil) } == [2])
      array.removeObserver(w, fromObjectsAt: [0], forKeyPath: "v", context: context(7))
      array.removeObserver(w, fromObjectsAt: [2], forKeyPath: "v")
      for each in array { each.v = 2 }
      #expect(w.lines.isEmpty && array.allSatisfy { $0.observationInfo == nil })
    }

    @Test func `257: An index out of range raises, before any element is observed or no longer observed`() {
      let array = [T(), T()]
      let raised = faults { array.addObserver(w, toObjectsAt: [0, 2], forKeyPath: "v") }
      #expect(raised.map(\.exceptionName) == ["NSRangeException"] && array[0].observationInfo == nil)
      array.addObserver(w, toObjectsAt: [0], forKeyPath: "v")
      #expect(codes { array.removeObserver(w, fromObjectsAt: [0, 2], forKeyPath: "v") } == [37])
      #expect(array[0].observationInfo != nil)
      array.removeObserver(w, fromObjectsAt: [0], forKeyPath: "v")
    }

    @Test func `259: Elements added later are not observed`() {
      var array = [T()]
      array.addObserver(w, toObjectsAt: [0], forKeyPath: "v")
      array.insert(T("new"), at: 0)
      array[0].v = 1
      #expect(w.lines.isEmpty)
      array.removeObserver(w, fromObjectsAt: [1], forKeyPath: "v")
    }
  }
#endif
