// Section A of Documentation/AppleCompatibility.md: the change dictionary.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A. The change dictionary")
  struct SectionA {
    let t = T()
    let w = Watcher()

    @Test func `1: The five keys are Apple's strings`() {
      let keys: [NSKeyValueChangeKey] = [.kindKey, .newKey, .oldKey, .indexesKey, .notificationIsPriorKey]
      #expect(keys.map(\.rawValue) == ["kind", "new", "old", "indexes", "notificationIsPrior"])
    }

    @Test func `2, 3: The kind is always present, with no options alone, with the indexes for an ordered change`() {
      t.add(w, "v", [])
      t.add(w, "list", [])
      t.v = 1
      t.willChange(.insertion, valuesAt: [0], forKey: "list")
      t.didChange(.insertion, valuesAt: [0], forKey: "list")
      #expect(w.changes.map { Set($0.keys.map(\.rawValue)) } == [["kind"], ["kind", "indexes"]])
      #expect(w.changes.map { $0[.kindKey] as? UInt } == [1, 2])
      t.remove(w, "v")
      t.remove(w, "list")
    }

    @Test func `4: Old is the value before the change and new the one after it, each only if requested`() {
      t.add(w, "v", [.old], ctx: 1)
      t.add(w, "v", [.new], ctx: 2)
      t.v = 1
      #expect(w.lines == ["w ->1 ctx2", "w 0>- ctx1"])
      t.remove(w, "v", ctx: 1)
      t.remove(w, "v", ctx: 2)
    }

    @Test func `5: The old value that one observer requests is not delivered to another`() {
      let other = Watcher("other", w.log)
      t.add(other, "v", [])
      t.add(w, "v", [.old])
      t.v = 1
      #expect(w.lines == ["w 0>-", "other ->-"])
      t.remove(w, "v")
      t.remove(other, "v")
    }

    @Test func `6: A nil is NSNull, never a missing key`() {
      t.add(w, "s")
      t.s = "x"
      t.s = nil
      t.s = nil
      #expect(w.lines == ["w null>x", "w x>null", "w null>null"])
      t.remove(w, "s")
    }

    @Test func `7: Scalars and structures are plain Swift values`() {
      t.add(w, "d", [.new])
      t.add(w, "range", [.new])
      t.d = 1.5
      t.range = NSRange(location: 3, length: 4)
      #expect(w.changes[0][.newKey] as? Double == 1.5)
      #expect(w.changes[1][.newKey] as? NSRange == NSRange(location: 3, length: 4))
      t.remove(w, "d")
      t.remove(w, "range")
    }

    @Test func `8: Values are those of the getter, not the argument of the setter`() {
      t.add(w, "small")
      t.small = 99
      #expect(w.lines == ["w 0>10"])
      t.remove(w, "small")
    }

    @Test func `9: An equal value is a change`() {
      t.add(w, "v")
      t.v = 0
      t.v = 0
      #expect(w.lines == ["w 0>0", "w 0>0"])
      t.remove(w, "v")
    }

    @Test func `10: The object is the observed one, and the key path is the whole path, whatever part changed`() {
      let w = Watcher(path: true)
      t.child = T()
      t.add(w, "child.v")
      t.child?.v = 1
      t.child = nil
      #expect(w.lines == ["w child.v 0>1", "w child.v 1>null"])
      #expect(w.objects.allSatisfy { $0 === t } && w.objects.count == 2)
      t.remove(w, "child.v")
    }

    @Test func `11: The context is passed on, also in a path's initial notification`() {
      t.add(w, "child.v", [.initial], ctx: 7)
      t.child = T()
      #expect(w.lines == ["w ->- ctx7", "w ->- ctx7"])
      t.remove(w, "child.v", ctx: 7)
    }

    @Test func `13: The old value lives until the callback returns, although the setter has released it`() {
      weak var old: T?
      var seen: T?
      do {
        let child = T("old", v: 5)
        (old, t.child) = (child, child)
      }
      t.add(w, "child", [.old])
      w.reaction = { _ in seen = old }
      t.child = nil
      #expect(w.lines == ["w old>-"])
      #expect(seen?.v == 5)
      t.remove(w, "child")
    }

    @Test func `14: New is read for each observer: after a change within a callback later ones receive the newest`() {
      let first = Watcher("first", w.log)
      t.add(first, "v", [.new])
      t.add(w, "v", [.new])
      w.reaction = { [t] _ in if t.v == 1 { t.v = 42 } }
      t.v = 1
      #expect(w.lines == ["w ->1", "w ->42", "first ->42", "first ->42"])
      t.remove(w, "v")
      t.remove(first, "v")
    }
  }
#endif
