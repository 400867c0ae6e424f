// Section F of Documentation/AppleCompatibility.md: registrations that change during a change.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("F. Registrations that change during a change")
  struct SectionF {
    let t = T()
    let log = Log()

    private func manualChange(_ between: () -> Void) {
      t.willChangeValue(forKey: "manual")
      between()
      t.didChangeValue(forKey: "manual")
    }

    @Test func `72: An observer added in a callback is first notified of the next change`() {
      let (w, late) = (Watcher("w", log), Watcher("late", log))
      t.add(w, "v", [])
      w.reaction = { [t] _ in if t.v == 1 { t.add(late, "v", []) } }
      t.v = 1
      #expect(log.take() == ["w ->-"])
      t.v = 2
      #expect(log.take() == ["late ->-", "w ->-"])
      t.remove(w, "v")
      t.remove(late, "v")
    }

    @Test func `73, 74: An observer added between will and did is not notified, but its earlier registration is`() {
      let (w, late) = (Watcher("w", log), Watcher("late", log))
      t.add(w, "manual", [])
      manualChange {
        t.add(late, "manual", [])
        t.add(w, "manual", [])
      }
      #expect(log.lines == ["w ->-"])
      t.remove(w, "manual")
      t.remove(w, "manual")
      t.remove(late, "manual")
    }

    @Test func `75: An observer removed between will and did is not notified`() {
      let w = Watcher("w", log)
      t.add(w, "manual", [])
      manualChange { t.remove(w, "manual") }
      #expect(log.lines.isEmpty)
    }

    @Test func `76: An observer removed in another's callback before its turn is not notified, also if deallocated`() {
      let w = Watcher("w", log)
      var early: Watcher? = Watcher("early", log)
      t.add(early!, "v", [])
      t.add(w, "v", [])
      w.reaction = { [t] _ in
        if let removed = early { t.remove(removed, "v") }
        early = nil
      }
      #expect(codes { t.v = 1 } == [])
      #expect(log.lines == ["w ->-"])
      t.remove(w, "v")
    }

    @Test func `77: An observer that removes itself in its callback does not affect the others`() {
      let all = ["a", "b", "c"].map { Watcher($0, log) }
      for each in all { t.add(each, "v", []) }
      all[1].reaction = { [t, unowned b = all[1]] _ in t.remove(b, "v") }
      t.v = 1
      t.v = 2
      #expect(log.lines == ["c ->-", "b ->-", "a ->-", "c ->-", "a ->-"])
      t.remove(all[0], "v")
      t.remove(all[2], "v")
    }

    @Test func `78: If one of two equal registrations is removed between will and did, the other is notified once`() {
      let w = Watcher("w", log)
      t.add(w, "manual", [])
      t.add(w, "manual", [])
      manualChange { t.remove(w, "manual") }
      #expect(log.lines == ["w ->-"])
      t.remove(w, "manual")
    }

    @Test(arguments: [0, 5])
    func `79, 80: Removed and registered again between will and did, an observer is not notified`(ctx: Int) {
      let w = Watcher("w", log)
      t.add(w, "manual", [])
      manualChange {
        t.remove(w, "manual")
        t.add(w, "manual", [], ctx: ctx)
      }
      #expect(log.lines.isEmpty)
      t.remove(w, "manual")
    }

    @Test func `81: An observer may be released in its own callback, and lives until it returns`() {
      weak var gone: Watcher?
      var w: Watcher? = Watcher("w", log)
      gone = w
      t.add(w!, "v", [])
      var livedOn = false
      w!.reaction = { [t] _ in
        t.remove(gone!, "v")
        w = nil
        livedOn = gone != nil
      }
      t.v = 1
      #expect(livedOn && gone == nil)
    }

    @Test func `81: A registered observer deallocated between will and did is a fault at did, and not called`() {
      var w: Watcher? = Watcher("w", log)
      t.add(w!, "manual", [])
      let raised = codes {
        manualChange { w = nil }
      }
      #expect(raised == [4] && log.lines.isEmpty)
      #expect(t.observationInfo == nil)
    }

    @Test func `82: The object lives until the change is delivered, also if a callback drops the last reference`() {
      final class Holder: @unchecked Sendable { var t: T? = T("held") }
      let holder = Holder()
      weak let gone = holder.t
      let tokens = (0..<2).map { index in
        holder.t!.observe(\.v, options: [.new]) { [log] t, change in
          if index == 1 { holder.t = nil }
          log.add("\(t.name) \(change.newValue!)")
        }
      }
      holder.t!.v = 1
      #expect(log.lines == ["held 1", "held 1"])
      #expect(gone == nil)
      withExtendedLifetime(tokens) {}
    }

    @Test func `83: A path registered between will and did of its head is notified of later changes only`() {
      let w = Watcher("w", log)
      t.child = T()
      t.willChangeValue(forKey: "child")
      t.add(w, "child.v", [])
      t.didChangeValue(forKey: "child")
      #expect(log.lines.isEmpty)
      t.child?.v = 1
      #expect(log.lines == ["w ->-"])
      t.remove(w, "child.v")
    }

    @Test func `84: An observer of another key registered during a change is notified of that key's changes`() {
      let (w, other) = (Watcher("w", log), Watcher("other", log))
      t.add(w, "v", [])
      w.reaction = { [t] _ in
        t.add(other, "d")
        t.d = 2
      }
      t.v = 1
      #expect(log.lines == ["w ->-", "other 0.5>2.0"])
      t.remove(w, "v")
      t.remove(other, "d")
    }

    @Test func `85: Removals during changes do not affect later changes`() {
      let (w, other) = (Watcher("w", log), Watcher("other", log))
      t.add(w, "manual")
      for round in 1...3 {
        t.add(other, "manual", [])
        t.willChangeValue(forKey: "manual")
        t.manual = round
        t.remove(other, "manual")
        t.didChangeValue(forKey: "manual")
      }
      #expect(log.lines == ["w 0>1", "w 1>2", "w 2>3"])
      t.remove(w, "manual")
    }
  }
#endif
