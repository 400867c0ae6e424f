// Bindings while another thread sets a side in the middle of a transfer.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A binding and threads")
  struct BindingThreadTests {
    @Test("has the last value, though a second thread sets the source while the first one sets the target")
    func secondWithinFirst() {
      let (one, other) = (SharedDocument(), SharedDocument())
      one.source(\.pages).bind(to: other, \.pages, initially: .wait)
      nonisolated(unsafe) var isFirst = true
      let token = other.observe(\.pages, options: .prior) { other, change in
        guard change.isPrior, isFirst else { return }
        isFirst = false
        elsewhere { one.pages = 9 }
      }
      one.pages = 5
      #expect(one.pages == 9 && other.pages == 9)
      token.invalidate()
    }

    @Test("has the last value, though the first thread sets the source while another one sets the target")
    func firstWithinOther() {
      let (one, other) = (SharedDocument(), SharedDocument())
      one.source(\.pages).bind(to: other, \.pages, initially: .wait)
      one.pages = 1
      elsewhere { one.pages = 2 }
      #expect(other.pages == 2)
      let (isWithin, mayGoOn, ended) = semaphores()
      nonisolated(unsafe) var isFirst = true
      let token = other.observe(\.pages, options: .prior) { _, change in
        guard change.isPrior, isFirst else { return }
        isFirst = false
        isWithin.signal()
        mayGoOn.wait()
      }
      Thread {
        one.pages = 5
        ended.signal()
      }.start()
      isWithin.wait()
      one.pages = 9
      mayGoOn.signal()
      ended.wait()
      #expect(one.pages == 9 && other.pages == 9)
      token.invalidate()
    }

    @Test("of merged sources has the value of the one that changed, whichever thread has set it")
    func merged() {
      let (one, other, target) = (SharedDocument(), SharedDocument(), SharedDocument())
      let merged = KeyValueSource.merge(one.source(\.title), other.source(\.title))
      merged.map { $0 + "!" }.bind(to: target, \.title, initially: .wait)
      other.title = "A"
      #expect(target.title == "A!")
      elsewhere { other.title = "B" }
      #expect(target.title == "B!")
      one.title = "C"
      #expect(target.title == "C!")
      #expect(merged.value == "C" && KeyValueSource.merge(other.source(\.title), one.source(\.title)).value == "B")
    }

    @Test("in a cycle goes through as many rounds as are needed on each thread")
    func rounds() {
      let (one, other, codes) = (SharedDocument(), SharedDocument(), Log<Int>())
      one.source(\.pages).map { min($0 + 1, 500) }.bind(to: other, \.pages)
      other.source(\.pages).bind(to: one, \.pages)
      #expect(one.pages == 500 && other.pages == 500)
      elsewhere { for code in faults(in: { one.pages = 0 }) { codes.add(code) } }
      #expect(codes.all == [])
      #expect(one.pages == 500 && other.pages == 500)
    }

    @Test("in both directions ends in both when it is ended and waited for, and waits for either")
    func endedAndWaitedFor() {
      let (left, right, log) = (SharedDocument(), SharedDocument(), Log<String>())
      let (isWithin, mayGoOn, ended) = semaphores()
      let token = left.bindTwoWay(\.pages, with: right, \.pages, initially: .wait) {
        guard left.pages == 1 else { return }
        isWithin.signal()
        mayGoOn.wait()
        log.add("told")
      }
      Thread {
        right.pages = 1
        ended.signal()
      }.start()
      isWithin.wait()
      Thread {
        let limit = ContinuousClock.now + .seconds(10)
        repeat { left.pages += 1 } while right.pages == left.pages && ContinuousClock.now < limit
        log.add(right.pages == left.pages ? "still bound" : "not bound")
        mayGoOn.signal()
      }.start()
      token.invalidateAndWait()
      #expect(log.all == ["not bound", "told"])
      ended.wait()
    }

    private func semaphores() -> (DispatchSemaphore, DispatchSemaphore, DispatchSemaphore) {
      (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    }
  }
#endif
