// The end of a receiver's observations: of several key paths, in the initial call, while the handler runs, and without a trace.
#if Macros
  import CSupport
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The end of a receiver's observation")
  struct ReceiverEndTests {
    @Test("of several sources calls onEnd once, when the last of them has ended")
    func lastOfSeveral() {
      let (document, panel, reasons) = (Document(), Panel(), Log<NSKeyValueObservation.EndReason>())
      let titles = KeyValueSource.merge(document.source(\.title), document.source(\.pages).map { "\($0)" })
      let token = titles.onChange(for: panel) { _, _, _ in }
      token.onEnd(reasons.add)
      document.stopObserving(\.title, for: panel)
      #expect(token.isActive && reasons.all.isEmpty)
      document.stopObserving(\.pages, for: panel)
      #expect(!token.isActive && reasons.all == [.invalidated])
    }

    @Test("comes for all key paths when the receiver dies")
    func allAtDeath() {
      let (document, reasons) = (Document(), Log<NSKeyValueObservation.EndReason>())
      var panel: Panel? = Panel()
      let token = document.source(\.title, \.pages).onChange(for: panel!) { _, _, _ in }
      token.onEnd(reasons.add)
      panel = nil
      #expect(!token.isActive && reasons.all == [.receiverDied])
      #expect(document.observationInfo == nil)
    }

    @Test("in its initial call is one by hand, and says so afterwards")
    func inTheInitialCall() {
      let (document, panel, reasons) = (Document(), Panel(), Log<NSKeyValueObservation.EndReason>())
      let token = document.observe(\.title, options: .initial, for: panel) { me, document, _ in
        document.stopObserving(for: me)
      }
      token.onEnd(reasons.add)
      #expect(reasons.all == [.invalidated])
    }

    @Test("can be waited for while another thread runs the handler")
    func waits() {
      let (document, listener, tokens) = (SharedDocument(), ClassicListener(), Log<NSKeyValueObservation>())
      let (began, returned) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      tokens.add(
        document.observe(\.pages, for: listener) { me, _, _ in
          began.signal()
          while tokens.all[0].isActive { sched_yield() }
          for _ in 1...1000 { sched_yield() }
          me.log.add("told")
        })
      Thread {
        document.pages = 1
        returned.signal()
      }.start()
      began.wait()
      tokens.all[0].invalidateAndWait()
      #expect(listener.log.all == ["told"])
      returned.wait()
    }

    @Test("leaves nothing with a receiver that lives on, however often")
    func leavesNothing() async {
      await #expect(processExitsWith: .success) {
        let (document, panel) = (Document(), Panel())
        func observeAndEnd() {
          for _ in 0..<5_000 {
            document.observe(\.title, for: panel) { _, _, _ in }.invalidate()
            document.observe(\.title, options: .initial, for: panel) { me, document, _ in
              document.stopObserving(for: me)
            }
          }
        }
        observeAndEnd()
        let before = csupport_allocated()
        observeAndEnd()
        precondition(csupport_allocated() < before + 100_000)
      }
    }
  }

  @Suite("A change for a receiver")
  struct ReceiverChangeTests {
    @Test("of a collection has the elements that were inserted, with their indexes")
    func elements() {
      let (document, panel) = (Document(), Panel())
      document.observe(\.tags, options: [.new], for: panel) { me, _, change in
        me.log.append("\(change.kind == .insertion) \(change.indexes.map(Array.init) ?? []) \(change.newValue!)")
      }
      document.mutableArrayValue(for: \.tags).append("a")
      document.tags = ["b"]
      #expect(panel.log == [#"true [0] ["a"]"#, #"false [] ["b"]"#])
    }
  }
#endif
