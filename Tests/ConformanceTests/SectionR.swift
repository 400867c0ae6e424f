// Section R of Documentation/AppleCompatibility.md: deallocation of objects and observers.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Records in deinit whether it is still observed, and optionally removes the observer there.
  @KeyValueObservable
  private final class Dying {
    var v = 0
    @NotObserved var atEnd: (Dying) -> Void = { _ in }
    deinit { atEnd(self) }
  }

  @Suite("R. Deallocation")
  struct SectionR {
    let w = Watcher()

    @Test func `286, 288: An object that is deallocated while observed is always a fault, and the registrations end`() {
      for path in ["v", "child.v"] {
        var t: T? = T()
        let child = T()
        t?.child = child
        t?.add(w, path)
        #expect(codes { t = nil } == [1])
        child.v = 1
        #expect(w.lines.isEmpty && child.observationInfo == nil)
      }
    }

    @Test func `287: With a token it is no fault`() {
      var t: T? = T()
      let token = t?.observe(\.v) { _, _ in }
      #expect(codes { t = nil } == [])
      token?.invalidate()
    }

    @Test func `292, 293: The check follows the object's own deinit, which may remove observers in time`() {
      var dying: Dying? = Dying()
      dying?.add(w, "v")
      dying?.atEnd = { [w] in $0.remove(w, "v") }
      #expect(codes { dying = nil } == [])
      dying = Dying()
      dying?.add(w, "v")
      dying?.add(w, "v", [], ctx: 1)
      dying?.atEnd = { [w] in $0.remove(w, "v", ctx: 1) }
      let raised = faults { dying = nil }
      #expect(raised.map(\.code) == [1] && raised.first?.observations.count == 1)
    }

    @Test func `294: After all removals an object is deallocated without a report`() {
      var t: T? = T()
      t?.add(w, "v")
      t?.remove(w, "v")
      #expect(codes { t = nil } == [])
    }

    @Test func `295: An observer deallocated while registered is reported at the next change, and is not called`() {
      let t = T()
      var gone: Watcher? = Watcher("gone", w.log)
      t.add(gone!, "v")
      #expect(codes { gone = nil } == [])
      #expect(codes { t.v = 1 } == [4])
      #expect(codes { t.v = 2 } == [] && w.lines.isEmpty)
    }

    @Test func `296: Registrations of a deallocated object do not apply to another at its address`() {
      for _ in 0..<100 {
        _ = codes {
          let dead = T()
          dead.add(w, "v")
        }
        let t = T()
        #expect(t.observationInfo == nil)
        t.v = 1
      }
      #expect(w.lines.isEmpty)
    }
  }
#endif
