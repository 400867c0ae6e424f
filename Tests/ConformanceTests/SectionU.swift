// Section U of Documentation/AppleCompatibility.md: threads. See also Documentation/Concurrency.md and the tests it names.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Signals the end of a thread. It is not a DispatchSemaphore, which ThreadSanitizer does not support.
  private final class End: @unchecked Sendable {
    private let condition = NSCondition()
    private var hasCome = false

    func come() {
      condition.withLock {
        hasCome = true
        condition.broadcast()
      }
    }

    /// Returns whether the thread ends within 30 seconds.
    func wait() -> Bool {
      let deadline = Date() + 30
      return condition.withLock {
        while !hasCome, condition.wait(until: deadline) {}
        return hasCome
      }
    }
  }

  /// Runs a body on a new thread and returns whether it ends.
  @discardableResult
  private func onOtherThread(_ body: @escaping () -> Void) -> Bool {
    nonisolated(unsafe) let body = body
    let end = End()
    Thread.detachNewThread {
      body()
      end.come()
    }
    return end.wait()
  }

  @Suite("U. Threads")
  struct SectionU {
    let t = T()
    let w = Watcher()

    @Test func `147, 323: Callbacks run on the thread that makes the change, before the setter returns`() {
      t.child = T()
      t.add(w, "v")
      t.add(w, "child.v")
      // Not `Thread.current`: it retains the thread's closure, which would retain it.
      var threads: [pthread_t] = []
      w.reaction = { _ in threads.append(pthread_self()) }
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
      w.reaction = { [t] _ in
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
      #expect(w.lines == ["w 0>0"])
      t.remove(w, "manual")
    }
  }
#endif
