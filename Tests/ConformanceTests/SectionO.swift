// Section O of Documentation/AppleCompatibility.md: observation of the elements of an array. SectionY tests paths through
// collections.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("O. Elements of arrays")
  struct SectionO {
    private var array = [T("a"), T("b"), T("c")]
    let w = Watcher(path: true)

    @Test func `256, 258: Each element at the indexes is observed, and is the object of its notifications`() {
      array.addObserver(w, toObjectsAt: [0, 2], forKeyPath: "v", options: [.old, .new], context: context(7))
      for each in array { each.v = 1 }
      #expect(w.take() == ["w v 0>1 ctx7", "w v 0>1 ctx7"])
      #expect(w.objects.map { ($0 as? T)?.name } == ["a", "c"])
      array.removeObserver(w, fromObjectsAt: [0], forKeyPath: "v", context: context(7))
      array.removeObserver(w, fromObjectsAt: [2], forKeyPath: "v")
      for each in array { each.v = 2 }
      #expect(w.lines.isEmpty && array.allSatisfy { $0.observationInfo == nil })
    }

    @Test func `257: An index out of range raises, and no element is observed`() {
      let raised = faults { array.addObserver(w, toObjectsAt: [0, 3], forKeyPath: "v") }
      #expect(raised.map(\.exceptionName) == ["NSRangeException"])
      #expect(array.allSatisfy { $0.observationInfo == nil })
    }

    @Test func `259: Elements added later are not observed`() {
      var array = array
      array.addObserver(w, toObjectsAt: [0], forKeyPath: "v")
      array.insert(T("new"), at: 0)
      array[0].v = 1
      #expect(w.lines.isEmpty)
      array.removeObserver(w, fromObjectsAt: [1], forKeyPath: "v")
    }
  }
#endif
