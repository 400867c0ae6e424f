// Section I of Documentation/AppleCompatibility.md: manual notification, nesting and imbalance.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Failure: Error {}

  @Suite("I. Manual notification, nesting and imbalance")
  struct SectionI {
    let t = T()
    let w = Watcher()

    private func will(_ key: String = "manual") { t.willChangeValue(forKey: key) }
    private func did(_ key: String = "manual") { t.didChangeValue(forKey: key) }

    @Test func `115: A pair around a change is one notification, and one with prior`() {
      t.add(w, "manual", [.prior, .old, .new])
      will()
      t.manual = 1
      did()
      #expect(w.lines == ["w prior 0>-", "w 0>1"])
      t.remove(w, "manual")
    }

    @Test func `116: did without will has no effect except for an error`() {
      t.add(w, "manual")
      #expect(codes { did() } == [28])
      will()
      did()
      #expect(w.lines == ["w 0>0"])
      t.remove(w, "manual")
    }

    @Test func `117, 118: will without did notifies nobody, and later sets of the key notify as usual`() {
      t.add(w, "v")
      will("v")
      #expect(w.lines.isEmpty)
      t.v = 1
      t.v = 2
      #expect(w.lines == ["w 0>1", "w 1>2"])
      did("v")
      t.remove(w, "v")
    }

    @Test func `119, 121, 391: Nested pairs each notify, the inner one first, each with its own old value`() {
      t.add(w, "manual")
      will()
      t.manual = 1
      will()
      t.manual = 2
      did()
      did()
      #expect(w.lines == ["w 1>2", "w 0>2"])
      t.remove(w, "manual")
    }

    @Test func `120: A pair around a setter that notifies is two notifications`() {
      t.add(w, "v")
      will("v")
      t.v = 1
      did("v")
      #expect(w.lines == ["w 0>1", "w 0>1"])
      t.remove(w, "v")
    }

    @Test func `122: Pairs are matched by object and key, and may interleave`() {
      let other = T("other")
      t.add(w, "manual", [], ctx: 1)
      t.add(w, "v", [], ctx: 2)
      other.add(w, "manual", [], ctx: 3)
      will()
      other.willChangeValue(forKey: "manual")
      will("v")
      did()
      other.didChangeValue(forKey: "manual")
      did("v")
      #expect(w.lines == ["w ->- ctx1", "w ->- ctx3", "w ->- ctx2"])
      t.remove(w, "manual")
      t.remove(w, "v")
      other.remove(w, "manual")
    }

    @Test func `124: A plain did ends an indexed will, with its kind and indexes`() {
      t.list = [1, 2]
      t.add(w, "list")
      t.willChange(.removal, valuesAt: [0], forKey: "list")
      did("list")
      did("list")
      #expect(w.lines == ["w removal [1]>- at [0]"])
      t.remove(w, "list")
    }

    @Test func `126: A pair of an unobserved key has no effect, even if the key is undefined`() {
      t.add(w, "v")
      let raised = codes {
        for key in ["d", "nothing"] {
          will(key)
          did(key)
        }
        t.willChange(.insertion, valuesAt: [0], forKey: "nothing")
        t.didChange(.insertion, valuesAt: [0], forKey: "nothing")
      }
      #expect(raised == [] && w.lines.isEmpty)
      t.remove(w, "v")
    }

    @Test func `127: A pair of a key path instead of a key notifies nobody, and is a warning`() {
      t.child = T()
      t.add(w, "child.v")
      #expect(
        codes {
          will("child.v")
          did("child.v")
        } == [9])
      t.child?.v = 1
      #expect(w.lines == ["w 0>1"])
      t.remove(w, "child.v")
    }

    @Test func `129, 392: A mutation that throws between will and did ends its change, and later ones notify`() {
      t.add(w, "v")
      func fail(_ value: inout Int) throws {
        value = 1
        throw Failure()
      }
      #expect(throws: Failure.self) { try fail(&t.v) }
      t.v = 2
      #expect(w.lines == ["w 0>1", "w 1>2"])
      t.remove(w, "v")
    }
  }
#endif
