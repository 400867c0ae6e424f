// Sections I, J and U of Documentation/AppleCompatibility.md: manual pairs, key paths, threads. See also the tests that
// Documentation/Concurrency.md names.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Failure: Error {}

  /// Runs a body on a new thread and returns whether it ends within 30 seconds.
  @discardableResult
  private func onOtherThread(_ body: @escaping () -> Void) -> Bool {
    nonisolated(unsafe) let body = body
    let ended = NSConditionLock(condition: 0)
    Thread.detachNewThread {
      body()
      ended.lock()
      ended.unlock(withCondition: 1)
    }
    guard ended.lock(whenCondition: 1, before: Date() + 30) else { return false }
    ended.unlock()
    return true
  }

  @Suite("I, J, U. Manual pairs, key paths and threads")
  struct Changes {
    let t = T()
    let w = Watcher()

    @Test func `119, 121, 391: Nested pairs each notify, the inner one first, each with its own old value`() {
      t.add(w, "manual")
      t.willChangeValue(forKey: "manual")
      t.manual = 1
      t.willChangeValue(forKey: "manual")
      t.manual = 2
      t.didChangeValue(forKey: "manual")
      t.didChangeValue(forKey: "manual")
      #expect(w.lines == ["1>2", "0>2"])
      t.remove(w, "manual")
    }

    @Test func `129, 392: A mutation that throws between will and did ends its change, and later ones notify`() {
      t.add(w, "v")
      func fail(_ value: inout Int) throws {
        value = 1
        throw Failure()
      }
      #expect(throws: Failure.self) { try fail(&t.v) }
      t.v = 2
      #expect(w.lines == ["0>1", "1>2"])
      t.remove(w, "v")
    }

    @Test func `159: observationInfo of an object on an observed path is not nil`() {
      t.child = T()
      t.add(w, "child.v")
      #expect(t.child?.observationInfo != nil)
      t.remove(w, "child.v")
      #expect(t.child?.observationInfo == nil)
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
      #expect(w.lines.suffix(2) == ["null>2", "2>3"])
      t.remove(w, "boss.v")
    }

    @Test func `147, 323: Callbacks run on the thread that makes the change, before the setter returns`() {
      t.child = T()
      t.add(w, "v")
      t.add(w, "child.v")
      // Not `Thread.current`: it retains the thread's closure, which would retain it.
      var threads: [pthread_t] = []
      w.reaction = { threads.append(pthread_self()) }
      var other: pthread_t?
      onOtherThread { [t] in
        other = pthread_self()
        t.v = 1
        t.child!.v = 1
      }
      #expect(threads.count == 2 && threads.allSatisfy { $0 == other })
      #expect(other != pthread_self())
      t.remove(w, "v")
      t.remove(w, "child.v")
    }

    @Test func `324, 331: No lock is held in a callback: other threads may register, remove and set meanwhile`() {
      t.add(w, "v", [.prior])
      var ended: [Bool] = []
      w.reaction = { [t] in
        ended.append(
          onOtherThread {
            let other = Watcher()
            t.add(other, "v")
            t.add(other, "d")
            t.d += 1
            t.remove(other, "d")
            t.remove(other, "v")
          })
      }
      t.v = 1
      #expect(ended == [true, true])
      t.remove(w, "v")
    }

    @Test func `123, 330: A pair belongs to its thread: a did on another thread has no match`() {
      t.add(w, "manual")
      t.willChangeValue(forKey: "manual")
      onOtherThread { [t] in t.didChangeValue(forKey: "manual") }
      #expect(w.lines.isEmpty)
      t.didChangeValue(forKey: "manual")
      #expect(w.lines == ["0>0"])
      t.remove(w, "manual")
    }
  }
#endif
