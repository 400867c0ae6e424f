// Section U of Documentation/AppleCompatibility.md: threads. More is in Documentation/Concurrency.md and the tests it names.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Runs a body on a thread of its own and waits for its end.
  private func onOtherThread(_ body: @escaping () -> Void) {
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    done.wait()
  }

  @Suite("U. Threads")
  struct SectionU {
    let t = T()
    let w = Watcher()

    @Test func `147, 323: Callbacks run on the thread that makes the change, before the setter returns`() {
      t.child = T()
      t.add(w, "v")
      t.add(w, "child.v")
      var threads: [Thread] = []
      w.reaction = { _ in threads.append(Thread.current) }
      var other: Thread?
      onOtherThread { [t] in
        other = Thread.current
        t.v = 1
        t.child!.v = 1
      }
      #expect(threads.count == 2 && threads.allSatisfy { $0 === other })
      #expect(other !== Thread.current)
      t.remove(w, "v")
      t.remove(w, "child.v")
    }

    @Test func `324, 331: No lock is held in a callback: other threads may register, remove and set meanwhile`() {
      t.add(w, "v", [.prior])
      var ended: [DispatchTimeoutResult] = []
      w.reaction = { [t] _ in
        nonisolated(unsafe) let t = t
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          let other = Watcher()
          t.add(other, "v")
          t.add(other, "d")
          t.d += 1
          t.remove(other, "d")
          t.remove(other, "v")
          done.signal()
        }
        ended.append(done.wait(timeout: .now() + 30))
      }
      t.v = 1
      #expect(ended == [.success, .success])
      t.remove(w, "v")
    }

    @Test func `123, 330: A pair belongs to its thread: a did elsewhere finds nothing`() {
      t.add(w, "manual")
      t.willChangeValue(forKey: "manual")
      onOtherThread { [t] in t.didChangeValue(forKey: "manual") }
      #expect(w.lines.isEmpty)
      t.didChangeValue(forKey: "manual")
      #expect(w.lines == ["w 0>0"])
      t.remove(w, "manual")
    }
  }
#endif
