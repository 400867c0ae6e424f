// Sections B and C of Documentation/AppleCompatibility.md: initial and prior notifications.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("B. Initial notifications")
  struct SectionB {
    let t = T()
    let w = Watcher()

    @Test func `15, 16: Initial is one notification within registration, with new only if requested`() {
      t.v = 5
      t.add(w, "v", [.initial], ctx: 1)
      #expect(w.take() == ["w ->- ctx1"])
      t.add(w, "v", [.initial, .new], ctx: 2)
      #expect(w.take() == ["w ->5 ctx2"])
      t.add(w, "s", [.initial, .new])
      #expect(w.take() == ["w ->null"])
      for ctx in [1, 2] { t.remove(w, "v", ctx: ctx) }
      t.remove(w, "s")
    }

    @Test func `17: Initial never has an old value`() {
      t.add(w, "v", [.initial, .old, .new])
      #expect(w.lines == ["w ->0"])
      t.remove(w, "v")
    }

    @Test func `18: Initial with prior is one notification, and no prior one`() {
      t.add(w, "v", [.initial, .prior, .new])
      #expect(w.lines == ["w ->0"])
      #expect(w.changes[0][.notificationIsPriorKey] == nil)
      t.remove(w, "v")
    }

    @Test func `19: Initial of a collection is a setting with the whole value and no indexes`() {
      t.list = [1, 2]
      t.add(w, "list", [.initial, .new])
      #expect(w.lines == ["w ->[1, 2]"])
      t.remove(w, "list")
    }

    @Test func `20: Initial is also delivered for a manual key`() {
      t.add(w, "manual", [.initial, .new])
      #expect(w.lines == ["w ->0"])
      t.remove(w, "manual")
    }

    @Test func `21, 22: Initial of a path has the value at its end, or NSNull if an object on it is nil`() {
      t.add(w, "child.v", [.initial, .new])
      t.remove(w, "child.v")
      t.child = T(v: 3)
      t.add(w, "child.v", [.initial, .new])
      #expect(w.lines == ["w ->null", "w ->3"])
      t.remove(w, "child.v")
    }

    @Test func `23: The registration exists when the initial notification is delivered, and can be removed there`() {
      w.reaction = { [t, unowned w] _ in t.remove(w, "v") }
      t.add(w, "v", [.initial, .new])
      t.v = 1
      #expect(w.lines == ["w ->0"])
      #expect(t.observationInfo == nil)
    }

    @Test func `23: A set within the initial notification notifies`() {
      w.reaction = { [t] _ in if t.v == 0 { t.v = 1 } }
      t.add(w, "v", [.initial, .new])
      #expect(w.lines == ["w ->0", "w ->1"])
      t.remove(w, "v")
    }

    @Test func `24: Initial with new of an undefined key is a fault, and nothing stays registered`() {
      #expect(codes { t.add(w, "nothing", [.initial, .new]) } == [9])
      #expect(t.observationInfo == nil && w.lines.isEmpty)
    }

    @Test func `25: Initial without new of an undefined key does not evaluate it`() {
      #expect(codes { t.add(w, "nothing", [.initial]) } == [11])
      #expect(w.lines == ["w ->-"])
      t.remove(w, "nothing")
    }
  }

  @Suite("C. Prior notifications")
  struct SectionC {
    let t = T()
    let w = Watcher()

    @Test func `26, 27: Prior is a separate notification, with the old value and never the new one`() {
      t.add(w, "v", [.prior, .old, .new])
      t.v = 1
      #expect(w.lines == ["w prior 0>-", "w 0>1"])
      #expect(w.changes[0][.notificationIsPriorKey] as? Bool == true)
      #expect(w.changes[1][.notificationIsPriorKey] == nil)
      t.remove(w, "v")
    }

    @Test func `28: Prior without old and new has the kind and the prior mark only`() {
      t.add(w, "v", [.prior])
      t.v = 1
      #expect(Set(w.changes[0].keys) == [.kindKey, .notificationIsPriorKey])
      t.remove(w, "v")
    }

    @Test func `29: In a prior notification the property has its old value`() {
      t.add(w, "v", [.prior])
      w.reaction = { [t, unowned w] _ in w.log.add("v is \(t.v)") }
      t.v = 1
      #expect(w.lines == ["w prior ->-", "v is 0", "w ->-", "v is 1"])
      t.remove(w, "v")
    }

    @Test func `30: Prior of an ordered change has its kind, its indexes, and the removed elements`() {
      t.list = [1, 2, 3]
      t.add(w, "list", [.prior, .old, .new])
      t.willChange(.removal, valuesAt: [0, 2], forKey: "list")
      t.didChange(.removal, valuesAt: [0, 2], forKey: "list")
      t.willChange(.replacement, valuesAt: [1], forKey: "list")
      t.didChange(.replacement, valuesAt: [1], forKey: "list")
      t.willChange(.insertion, valuesAt: [0], forKey: "list")
      t.didChange(.insertion, valuesAt: [0], forKey: "list")
      #expect(
        w.lines.filter { $0.contains("prior") } == [
          "w removal prior [1, 3]>- at [0, 2]", "w replacement prior [2]>- at [1]", "w insertion prior ->- at [0]",
        ])
      t.remove(w, "list")
    }

    @Test func `31: Prior works through paths, also if an object on the path is replaced`() {
      t.child = T(v: 1)
      t.add(w, "child.v", [.prior, .old, .new])
      t.child?.v = 2
      t.child = T(v: 3)
      t.child = nil
      #expect(w.lines == ["w prior 1>-", "w 1>2", "w prior 2>-", "w 2>3", "w prior 3>-", "w 3>null"])
      t.remove(w, "child.v")
    }

    @Test func `33: A change within a prior notification nests`() {
      t.add(w, "v", [.prior, .old, .new])
      var isDone = false
      w.reaction = { [t] _ in
        if isDone { return }
        isDone = true
        t.v = 5
      }
      t.v = 1
      #expect(w.lines == ["w prior 0>-", "w prior 0>-", "w 0>5", "w 0>1"])
      t.remove(w, "v")
    }
  }
#endif
