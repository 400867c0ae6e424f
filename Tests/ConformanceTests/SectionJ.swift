// Section J of Documentation/AppleCompatibility.md: key paths.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("J. Key paths")
  struct SectionJ {
    let t = T("t")
    let w = Watcher()

    @Test func `132, 133, 134, 135: A path notifies of its end and of each replacement on it, also by an equal`() {
      let first = T(v: 1)
      t.child = first
      t.add(w, "child.v")
      first.v = 2
      t.child = T(v: 3)
      t.child = T(v: 3)
      t.child = t.child
      #expect(w.lines == ["w 1>2", "w 2>3", "w 3>3", "w 3>3"])
      t.remove(w, "child.v")
    }

    @Test func `136: A path through nil is NSNull: from an object, back to it, and from nil to nil`() {
      t.add(w, "child.v")
      t.child = T(v: 1)
      t.child = nil
      t.child = nil
      #expect(w.lines == ["w null>1", "w 1>null", "w null>null"])
      t.remove(w, "child.v")
    }

    @Test func `137: A replaced object is no longer observed`() {
      let former = T()
      t.child = former
      t.add(w, "child.v")
      t.child = nil
      former.v = 1
      #expect(w.lines == ["w 0>null"])
      #expect(former.observationInfo == nil && !former.isSwizzled)
      t.remove(w, "child.v")
    }

    @Test func `138: Longer paths do the same at every level`() {
      let (a, b) = (T("a"), T("b", v: 1))
      (t.child, a.child) = (a, b)
      t.add(w, "child.child.v")
      b.v = 2
      a.child = T(v: 3)
      t.child = T()
      t.child = a
      #expect(w.lines == ["w 1>2", "w 2>3", "w 3>null", "w null>3"])
      t.remove(w, "child.child.v")
    }

    @Test func `139, 140: A path that is cut at registration notifies at each step that completes it`() {
      t.add(w, "child.child.v")
      t.child = T()
      t.child?.child = T(v: 1)
      t.child?.child?.v = 2
      #expect(w.lines == ["w null>null", "w null>1", "w 1>2"])
      t.remove(w, "child.child.v")
    }

    @Test func `141: An object and a path through it may be observed together, and end independently`() {
      let w = Watcher(path: true)
      t.child = T(v: 1)
      t.add(w, "child", [])
      t.add(w, "child.v")
      t.child = T(v: 2)
      #expect(w.take() == ["w child.v 1>2", "w child ->-"])
      t.remove(w, "child")
      t.child?.v = 3
      #expect(w.take() == ["w child.v 2>3"])
      t.remove(w, "child.v")
    }

    @Test func `142, 143: Two paths through one object both notify, and end independently`() {
      let w = Watcher(path: true)
      let shared = T()
      (t.child, t.boss) = (shared, shared)
      t.add(w, "child.v")
      t.add(w, "boss.v")
      shared.v = 1
      #expect(w.take() == ["w boss.v 0>1", "w child.v 0>1"])
      t.child = nil
      shared.v = 2
      #expect(w.take() == ["w child.v 1>null", "w boss.v 1>2"])
      t.remove(w, "child.v")
      shared.v = 3
      #expect(w.take() == ["w boss.v 2>3"])
      t.remove(w, "boss.v")
    }

    @Test func `144: One path with two contexts notifies twice, each ends by its own context`() {
      t.child = T()
      t.add(w, "child.v", [], ctx: 1)
      t.add(w, "child.v", [], ctx: 2)
      t.child?.v = 1
      t.remove(w, "child.v", ctx: 1)
      t.child?.v = 2
      #expect(w.lines == ["w ->- ctx2", "w ->- ctx1", "w ->- ctx2"])
      t.remove(w, "child.v", ctx: 2)
    }

    @Test func `145, 146: Several roots that share an object each notify once, with their own values`() {
      let (other, shared) = (T("other"), T(v: 1))
      t.child = shared
      other.child = shared
      t.add(w, "child.v")
      other.add(w, "child.v")
      shared.v = 2
      other.child = T(v: 9)
      #expect(w.lines == ["w 1>2", "w 1>2", "w 2>9"])
      #expect(w.objects.map { ($0 as! T).name } == ["other", "t", "other"])
      t.remove(w, "child.v")
      other.remove(w, "child.v")
    }

    @Test func `148: Removing a path's observer leaves no observation on any object of the path`() {
      let (a, b) = (T(), T())
      (t.child, a.child) = (a, b)
      t.add(w, "child.child.v")
      #expect([t, a, b].allSatisfy { $0.observationInfo != nil })
      t.remove(w, "child.child.v")
      #expect([t, a, b].allSatisfy { $0.observationInfo == nil && !$0.isSwizzled })
    }

    @Test
    func `149, 150, 266, 267: An unannounced change on the path is an error; once announced, it notifies`() {
      let (former, next) = (T(v: 1), T(v: 5))
      t.hiddenChild = former
      t.add(w, "hiddenChild.v")
      let raised = codes {
        t.hiddenChild = next
        next.v = 6
        former.v = 2
        #expect(w.take() == ["w 1>6"])  // the former object is still observed, but the values are the path's
        t.willChangeValue(forKey: "hiddenChild")
        t.didChangeValue(forKey: "hiddenChild")
        next.v = 7
        #expect(w.take() == ["w 6>6", "w 6>7"])
        t.hiddenChild = nil
        t.remove(w, "hiddenChild.v")
      }
      #expect(raised == [32])
      #expect([t, next, former].allSatisfy { $0.observationInfo == nil })
    }

    @Test func `158: Members of values are observed with typed key paths; a string cannot name one`() {
      let token = t.observe(\.s?.count, options: [.old, .new]) { [w] _, change in
        w.log.add("\(text(change.oldValue!)) \(text(change.newValue!))")
      }
      t.s = "abc"
      #expect(w.lines.count == 1)
      token.invalidate()
      #expect(codes { t.add(w, "s.length") } == [9])
    }

    @Test func `159: observationInfo of an object on the path is non-nil`() {
      t.child = T()
      t.add(w, "child.v")
      #expect(t.child!.observationInfo != nil)
      t.remove(w, "child.v")
      #expect(t.child!.observationInfo == nil)
    }

    @Test func `160: Cyclic object graphs may be observed`() {
      let other = T("other")
      (t.child, other.child) = (other, t)
      t.add(w, "child.child.child.child.v")
      t.v = 1
      #expect(w.take() == ["w 0>1"])
      other.child = nil
      #expect(w.take() == ["w 1>null"])
      other.child = t
      t.v = 2
      #expect(w.take() == ["w null>1", "w 1>2"])
      t.remove(w, "child.child.child.child.v")
      #expect(t.observationInfo == nil && other.observationInfo == nil)
      t.child = nil
    }

    @Test func `161: An object that was replaced may be deallocated`() {
      weak var former: T?
      do {
        let child = T()
        (former, t.child) = (child, child)
        t.add(w, "child.v")
        t.child = nil
      }
      #expect(former == nil)
      t.child = T(v: 4)
      #expect(w.lines == ["w 0>null", "w null>4"])
      t.remove(w, "child.v")
    }

    @Test func `162, 297: The deallocation of a weak object on the path is a change to nil, and no fault`() {
      var boss: T? = T("boss", v: 1)
      t.boss = boss
      t.add(w, "boss.v")
      #expect(codes { boss = nil } == [])
      #expect(w.lines.count == 1 && w.lines[0].hasSuffix(">null"))
      let next = T(v: 2)
      t.boss = next
      next.v = 3
      #expect(w.lines.suffix(2) == ["w null>2", "w 2>3"])
      t.remove(w, "boss.v")
    }
  }
#endif
