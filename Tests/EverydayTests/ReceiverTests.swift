// Observation on behalf of a receiver, in nonisolated code.
#if Macros
  import CSupport
  import KeyValueObserving
  import Synchronization
  import Testing

  @Suite("An observation for a receiver")
  struct ReceiverTests {
    @Test("passes the receiver, the object and the change to a handler that captures nothing")
    func delivers() {
      let (document, listener) = (Document(), Listener())
      document.observe(\.title, options: [.old, .new], for: listener) { me, document, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!) \(document.pages)")
      }
      document.title = "A"
      document.pages = 2
      document.title = "B"
      #expect(listener.log == [">A 0", "A>B 2"])
    }

    @Test("lasts without a token, and its release ends nothing")
    func needsNoToken() {
      let (document, panel) = (Document(), Panel())
      do {
        let token = document.observe(\.title, for: panel) { me, _, _ in me.log.append("told") }
        #expect(token.isActive)
      }
      document.title = "A"
      #expect(panel.log == ["told"])
    }

    @Test("ends at the death of a receiver that is observable, at once")
    func observableReceiverDies() {
      let document = Document()
      let calls = Atomic(0)
      var panel: Panel? = Panel()
      let token = document.observe(\.title, for: panel!) { _, _, _ in calls.add(1, ordering: .relaxed) }
      document.title = "A"
      panel = nil
      #expect(!token.isActive)
      #expect(document.observationInfo == nil)
      document.title = "B"
      #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("ends at the next change after the death of any other receiver, and that change is not delivered")
    func otherReceiverDies() {
      let document = Document()
      let calls = Atomic(0)
      var listener: Listener? = Listener()
      let token = document.observe(\.title, for: listener!) { _, _, _ in calls.add(1, ordering: .relaxed) }
      document.title = "A"
      listener = nil
      document.title = "B"
      #expect(!token.isActive)
      #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("ends after the death of its receiver although nothing changes, when others are registered")
    func receiversOfWhatNeverChanges() {
      let document = Document()
      let ended = Atomic(0)
      for _ in 0..<5000 {
        document.observe(\.title, for: Listener()) { _, _, _ in }.onEnd { _ in ended.add(1, ordering: .relaxed) }
      }
      #expect(ended.load(ordering: .relaxed) > 2000)
    }

    @Test("does not make the receiver an observed object")
    func receiverIsNotObserved() {
      let (document, panel) = (Document(), Panel())
      document.observe(\.title, for: panel) { _, _, _ in }
      #expect(panel.observationInfo == nil)
      let token = panel.observe(\.caption) { _, _ in }
      #expect(panel.observationInfo != nil)
      token.invalidate()
      #expect(panel.observationInfo == nil)
    }

    @Test("is ended by stopObserving for one key path or for all, any number of times")
    func stops() {
      let (document, panel, other) = (Document(), Panel(), Panel())
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("title") }
      document.observe(\.summary, for: panel) { me, _, _ in me.log.append("summary") }
      document.observe(\.author?.name, for: panel) { me, _, _ in me.log.append("author") }
      document.observe(\.title, for: other) { me, _, _ in me.log.append("title") }
      document.stopObserving(\.title, for: panel)
      document.stopObserving(\.title, for: panel)
      document.title = "A"
      #expect(panel.log == ["summary"])
      document.stopObserving(\.author?.name, for: panel)
      document.author = Author("B")
      #expect(panel.log == ["summary"])
      document.stopObserving(for: panel)
      document.stopObserving(for: panel)
      document.title = "B"
      #expect(panel.log == ["summary"])
      #expect(other.log == ["title", "title"])
    }

    @Test("says once why it ended")
    func reasons() {
      let reasons = Log<NSKeyValueObservation.EndReason>()
      var document: Document? = Document()
      var panel: Panel? = Panel()
      var listener: Listener? = Listener()
      let held = Listener()
      document!.observe(\.title, for: panel!) { _, _, _ in }.onEnd(reasons.add)
      panel = nil
      #expect(reasons.all == [.receiverDied])
      document!.observe(\.title, for: listener!) { _, _, _ in }.onEnd(reasons.add)
      listener = nil
      document!.title = "A"
      #expect(reasons.all == [.receiverDied, .receiverDied])
      let token = document!.observe(\.title, for: held) { _, _, _ in }.onEnd(reasons.add)
      token.invalidate()
      token.invalidate()
      #expect(reasons.all.count == 3 && reasons.all.last == .invalidated)
      document!.observe(\.title, for: held) { _, _, _ in }.onEnd(reasons.add)
      document!.observe(\.summary, for: held) { _, _, _ in }.onEnd(reasons.add)
      document = nil
      #expect(reasons.all.suffix(2) == [.objectDied, .objectDied] && reasons.all.count == 5)
      token.onEnd(reasons.add)
      #expect(reasons.all.last == .invalidated && reasons.all.count == 6)
    }

    @Test("tells of the end of a plain token, of its release, and of the object's death")
    func plainTokens() {
      let reasons = Log<NSKeyValueObservation.EndReason>()
      var document: Document? = Document()
      var token: NSKeyValueObservation? = document!.observe(\.title) { _, _ in }.onEnd(reasons.add)
      _ = token
      token = nil
      #expect(reasons.all == [.invalidated])
      let kept = document!.observe(\.title) { _, _ in }.onEnd(reasons.add)
      document = nil
      #expect(reasons.all == [.invalidated, .objectDied])
      #expect(!kept.isActive)
      kept.onEnd(reasons.add)
      #expect(reasons.all == [.invalidated, .objectDied, .objectDied])
    }

    @Test("hands over plain old and new values, which are equal at first")
    func values() {
      let (document, panel) = (Document(), Panel())
      document.title = "A"
      document.onChange(of: \.title, initial: true, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.title = "B"
      document.title = "B"
      #expect(panel.log == ["A>A", "A>B"])
      var tokens: Set<NSKeyValueObservation> = []
      let log = Log<String>()
      document.onChange(of: \.author?.name) { old, new in log.add("\(old ?? "-")>\(new ?? "-")") }.store(in: &tokens)
      document.author = Author("X")
      document.author!.name = "Y"
      document.author = nil
      #expect(log.all == ["->X", "X>Y", "Y>-"])
      tokens = []
      document.author = Author("Z")
      #expect(log.all.count == 3)
    }

    @Test("hands over whole collections, however they are changed")
    func collections() {
      let (document, panel) = (Document(), Panel())
      document.onChange(of: \.tags, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.tags = ["a"]
      document.mutableArrayValue(for: \.tags).append("b")
      document.tags.append("c")
      #expect(panel.log == [#"[]>["a"]"#, #"["a"]>["a", "b"]"#, #"["a", "b"]>["a", "b", "c"]"#])
    }

    @Test("hands over the present values of several key paths")
    func several() {
      let (document, panel) = (Document(), Panel())
      let token = document.source(\.title, \.pages).onChange(initial: true, for: panel) { me, _, new in
        let (title, pages) = new
        me.log.append("\(title) \(pages)")
      }
      document.title = "A"
      document.pages = 3
      #expect(panel.log == [" 0", "A 0", "A 3"])
      let reasons = Log<NSKeyValueObservation.EndReason>()
      token.onEnd(reasons.add)
      token.invalidate()
      document.pages = 4
      #expect(panel.log.count == 3 && reasons.all == [.invalidated] && !token.isActive)
      document.source(\.title, \.pages, \.tags, \.summary).onChange(for: panel) { me, _, new in
        let (a, b, c, d) = new
        me.log.append("\(a) \(b) \(c) \(d)")
      }
      document.tags = ["x"]
      #expect(panel.log.last == #"A 4 ["x"] A (4)"#)
    }

    @Test("survives what its handler does to it: an end, the receiver's death, the object's death")
    func inItsOwnCallback() {
      var document: Document? = Document()
      let holder = Holder()
      holder.panel = Panel()
      let log = Log<String>()
      document!.observe(\.title, for: holder.panel!) { me, _, _ in
        holder.panel = nil
        me.caption = "still there"
        log.add(me.caption)
      }
      document!.title = "A"
      document!.title = "B"
      #expect(log.all == ["still there"])
      let listener = Listener()
      document!.observe(\.pages, for: listener) { me, document, _ in
        document.stopObserving(for: me)
        me.log.append("once")
      }
      document!.pages = 1
      document!.pages = 2
      #expect(listener.log == ["once"])
      document!.observe(\.pages, options: .initial, for: listener) { me, document, _ in
        document.stopObserving(for: me)
        me.log.append("initial")
      }
      document!.pages = 3
      #expect(listener.log == ["once", "initial"])
      document = nil
    }

    @Test("of a receiver with itself ends with it")
    func ofItself() {
      weak var panel: Panel?
      do {
        let made = Panel()
        panel = made
        made.observe(\.caption, for: made) { me, _, _ in me.log.append(me.caption) }
        made.caption = "A"
        #expect(made.log == ["A"])
      }
      #expect(panel == nil)
    }
  }

  private final class Holder {
    var panel: Panel?
  }

  @Suite("A closure for an object's deinitialization")
  struct DeinitTests {
    @Test("runs once, after the observations have ended, and not if it was taken back")
    func runs() {
      let log = Log<String>()
      var document: Document? = Document()
      document!.onDeinit { log.add("deinit") }
      let taken = document!.onDeinit { log.add("never") }
      #expect(document!.observationInfo == nil)
      taken.invalidate()
      taken.invalidate()
      document!.title = "A"
      document = nil
      #expect(log.all == ["deinit"])
    }

    @Test("leaves nothing when it is taken back, however often, while the object lives")
    func leavesNothing() async {
      await #expect(processExitsWith: .success) {
        let document = Document()
        func registerAndTakeBack() { for _ in 0..<10_000 { document.onDeinit {}.invalidate() } }
        registerAndTakeBack()
        let before = csupport_allocated()
        registerAndTakeBack()
        precondition(csupport_allocated() < before + 100_000)
      }
    }
  }
#endif
