// Section D of Documentation/AppleCompatibility.md: the order of notifications.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("D. The order of notifications")
  struct SectionD {
    let t = T()
    let log = Log()

    private func watchers(_ names: String) -> [Watcher] { names.map { Watcher("\($0)", log) } }

    @Test func `34: Prior callbacks run oldest first`() {
      let all = watchers("abc")
      for each in all { t.add(each, "v", [.prior]) }
      t.v = 1
      #expect(log.lines.prefix(3) == ["a prior ->-", "b prior ->-", "c prior ->-"])
      for each in all { t.remove(each, "v") }
    }

    @Test func `35, 37: Callbacks run newest first, also if one in between was removed`() {
      let all = watchers("abc")
      for each in all { t.add(each, "v", []) }
      t.v = 1
      t.remove(all[1], "v")
      t.v = 2
      #expect(log.lines == ["c ->-", "b ->-", "a ->-", "c ->-", "a ->-"])
      t.remove(all[0], "v")
      t.remove(all[2], "v")
    }

    @Test func `38: Two registrations of one observer are ordered like two observers`() {
      let w = Watcher("w", log)
      t.add(w, "v", [.prior], ctx: 1)
      t.add(w, "v", [.prior], ctx: 2)
      t.v = 1
      #expect(log.lines == ["w prior ->- ctx1", "w prior ->- ctx2", "w ->- ctx2", "w ->- ctx1"])
      for ctx in [1, 2] { t.remove(w, "v", ctx: ctx) }
    }

    @Test func `40: Interleaved pairs of two keys notify in the order of the did calls`() {
      let w = Watcher("w", log, path: true)
      t.add(w, "v", [])
      t.add(w, "d", [])
      t.willChangeValue(forKey: "v")
      t.willChangeValue(forKey: "d")
      t.didChangeValue(forKey: "v")
      t.didChangeValue(forKey: "d")
      #expect(log.lines == ["w v ->-", "w d ->-"])
      t.remove(w, "v")
      t.remove(w, "d")
    }

    @Test func `41: A change within a callback is delivered to all before the outer one continues`() {
      let all = watchers("abc")
      for each in all { t.add(each, "v", [.old]) }
      all[2].reaction = { [t] _ in if t.v == 1 { t.v = 2 } }
      t.v = 1
      #expect(log.lines == ["c 0>-", "c 1>-", "b 1>-", "a 1>-", "b 0>-", "a 0>-"])
      for each in all { t.remove(each, "v") }
    }
  }
#endif
