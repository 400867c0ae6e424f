// Observation on behalf of a receiver, in nonisolated code, how observations end, and closures for an object's deinitialization.
#if Macros
  import CSupport
  import KeyValueObserving
  import Testing

  @Suite("An observation for a receiver")
  struct ReceiverTests {
    private let document = Document()
    private let panel = Panel()
    private let log = Log<String>()

    @Test("passes the receiver, the object and the change to a handler that captures nothing")
    func delivers() {
      let listener = Listener()
      document.observe(\.title, options: [.old, .new], for: listener) { me, document, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!) \(document.pages)")
      }
      document.title = "A"
      document.pages = 2
      document.title = "B"
      #expect(listener.log == [">A 0", "A>B 2"])
    }

    @Test("lasts without a token, and does not make the receiver an observed object")
    func needsNoToken() {
      do {
        let token = document.observe(\.title, for: panel) { me, _, _ in me.log.append("called") }
        #expect(token.isActive)
      }
      document.title = "A"
      #expect(panel.log == ["called"])
      #expect(panel.observationInfo == nil)
    }

    @Test("ends with its receiver: at once if that is observable, otherwise at the next change, which is not delivered")
    func receiverDies() {
      var (panel, listener): (Panel?, Listener?) = (Panel(), Listener())
      let tokens = [
        document.observe(\.title, for: panel!) { _, _, _ in log.add("observable") },
        document.observe(\.title, for: listener!) { _, _, _ in log.add("other") },
      ]
      document.title = "A"
      panel = nil
      #expect(!tokens[0].isActive)
      listener = nil
      document.title = "B"
      #expect(!tokens[1].isActive && document.observationInfo == nil)
      #expect(log.all == ["other", "observable"])
    }

    @Test("ends after the death of its receiver although nothing changes, when others are registered")
    func receiversOfWhatNeverChanges() {
      func register(_ count: Int, for receiver: () -> Listener, _ end: String) {
        for _ in 0..<count {
          document.observe(\.title, for: receiver()) { _, _, _ in }.onEnd { [log] _ in log.add(end) }
        }
      }
      var lasting: Listener? = Listener()
      register(100, for: { lasting! }, "lasting")
      register(5000, for: Listener.init, "brief")
      #expect(log.all.count > 2000 && !log.all.contains("lasting"))
      lasting = nil
      register(5000, for: Listener.init, "brief")
      #expect(log.all.count { $0 == "lasting" } == 100)
    }

    @Test("is ended by stopObserving for one key path or for all, any number of times")
    func stops() {
      let other = Panel()
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("title") }
      document.observe(\.summary, for: panel) { me, _, _ in me.log.append("summary") }
      document.observe(\.author?.name, for: panel) { me, _, _ in me.log.append("author") }
      document.observe(\.title, for: other) { me, _, _ in me.log.append("title") }
      for _ in 1...2 { document.stopObserving(\.title, for: panel) }
      document.title = "A"
      #expect(panel.log == ["summary"])
      document.stopObserving(\.author?.name, for: panel)
      document.author = Author("B")
      for _ in 1...2 { document.stopObserving(for: panel) }
      document.title = "B"
      #expect(panel.log == ["summary"])
      #expect(other.log == ["title", "title"])
    }

    @Test("is ended by stopObserving with a string, and by stopObservingAll with those of all objects")
    func stopsStringsAndAll() {
      let (other, third) = (Document(), Panel())
      for each in [document, other] {
        each.observe(\.title, for: panel) { me, _, _ in me.log.append("title") }
        each.source("author.name").observe(for: panel) { me, _ in me.log.append("author") }
        each.source(\.title).bind(to: panel, \.caption, initially: .wait)
        each.observe(\.title, for: third) { me, _, _ in me.log.append("title") }
      }
      for _ in 1...2 { document.stopObserving("author.name", for: panel) }
      document.stopObserving("title", for: panel)
      document.author = Author("A")
      document.title = "A"
      #expect(panel.log == [])
      other.author = Author("A")
      other.title = "A"
      #expect(panel.log == ["author", "title"])
      for _ in 1...2 { stopObservingAll(for: panel) }
      for each in [document, other] {
        each.author = nil
        each.title = "B"
      }
      #expect(panel.log == ["author", "title"] && panel.caption == "A")
      #expect(third.log == ["title", "title", "title", "title"])
    }

    @Test("passes old and new values to onChange, equal at first, and whole collections, however they are changed")
    func values() {
      document.title = "A"
      document.onChange(of: \.title, initial: true, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      for title in ["B", "B"] { document.title = title }
      document.onChange(of: \.tags, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.tags = ["a"]
      document.mutableArrayValue(for: \.tags).append("b")
      document.tags.append("c")
      let collections = [#"[]>["a"]"#, #"["a"]>["a", "b"]"#, #"["a", "b"]>["a", "b", "c"]"#]
      #expect(panel.log == ["A>A", "A>B"] + collections)
      var tokens: Set<NSKeyValueObservation> = []
      document.onChange(of: \.author?.name) { old, new in log.add("\(old ?? "-")>\(new ?? "-")") }.store(in: &tokens)
      document.author = Author("X")
      document.author!.name = "Y"
      document.author = nil
      #expect(log.all == ["->X", "X>Y", "Y>-"])
      tokens = []
      document.author = Author("Z")
      #expect(log.all.count == 3)
    }

    @Test("survives what its handler does to it: an end, the receiver's death, the object's death")
    func inItsOwnCallback() {
      var document: Document? = Document()
      let holder = Holder()
      holder.panel = Panel()
      document!.observe(\.title, for: holder.panel!) { me, _, _ in
        holder.panel = nil
        me.caption = "still there"
        log.add(me.caption)
      }
      for title in ["A", "B"] { document!.title = title }
      #expect(log.all == ["still there"])
      let listener = Listener()
      document!.observe(\.pages, for: listener) { me, document, _ in
        document.stopObserving(for: me)
        me.log.append("once")
      }
      for pages in [1, 2] { document!.pages = pages }
      document!.observe(\.pages, options: .initial, for: listener) { me, document, _ in
        document.stopObserving(for: me)
        me.log.append("initial")
      }
      document!.pages = 3
      #expect(listener.log == ["once", "initial"])
      document = nil
    }
  }

  private final class Holder {
    var panel: Panel?
  }

  @Suite("The end of an observation")
  struct EndTests {
    private let reasons = Log<NSKeyValueObservation.EndReason>()

    @Test("calls onEnd once with its reason, also if that is asked for afterwards")
    func ofReceivers() {
      var (document, panel, listener): (Document?, Panel?, Listener?) = (Document(), Panel(), Listener())
      let held = Listener()
      document!.observe(\.title, for: panel!) { _, _, _ in }.onEnd(reasons.add)
      document!.source(\.title, \.pages).onChange(for: panel!) { _, _, _ in }.onEnd(reasons.add)
      panel = nil
      #expect(reasons.all == [.receiverDied, .receiverDied])
      document!.observe(\.title, for: listener!) { _, _, _ in }.onEnd(reasons.add)
      listener = nil
      document!.title = "A"
      #expect(reasons.all == [.receiverDied, .receiverDied, .receiverDied])
      let token = document!.observe(\.title, for: held) { _, _, _ in }.onEnd(reasons.add)
      for _ in 1...2 { token.invalidate() }
      #expect(reasons.all.count == 4 && reasons.all.last == .invalidated)
      document!.observe(\.title, for: held) { _, _, _ in }.onEnd(reasons.add)
      document!.observe(\.summary, for: held) { _, _, _ in }.onEnd(reasons.add)
      document = nil
      #expect(reasons.all.suffix(2) == [.objectDied, .objectDied] && reasons.all.count == 6)
      token.onEnd(reasons.add)
      #expect(reasons.all.last == .invalidated && reasons.all.count == 7)
    }

    @Test("of a plain token comes with its release, and with the object's death")
    func ofPlainTokens() {
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

    @Test("comes before the closures for the object's deinitialization, which are called once, and not if taken back")
    func deinitialization() {
      let log = Log<String>()
      var document: Document? = Document()
      document!.onDeinit { log.add("deinit") }
      let taken = document!.onDeinit { log.add("never") }
      #expect(document!.observationInfo == nil)
      for _ in 1...2 { taken.invalidate() }
      let token = document!.observe(\.title) { _, _ in }.onEnd { _ in log.add("end") }
      document!.title = "A"
      document = nil
      #expect(log.all == ["end", "deinit"])
      withExtendedLifetime(token) {}
    }
  }

  @Suite("Memory")
  struct MemoryTests {
    @Test("is not left behind by observations, closures and graphs, however many there were")
    func leavesNothing() async {
      await #expect(processExitsWith: .success) {
        let (document, panel) = (Document(), Panel())
        let token = document.observe(\.title) { _, _ in }
        let graph = ObservationGraph.current()
        let rows: [() -> Void] = [
          { document.observe(\.title, for: panel) { _, _, _ in }.invalidate() },
          {
            document.observe(\.title, options: .initial, for: panel) { me, document, _ in
              document.stopObserving(for: me)
            }
          },
          { document.onDeinit {}.invalidate() },
          { _ = graph.json },
        ]
        for (row, body) in rows.enumerated() {
          func repeated() { for _ in 0..<5_000 { body() } }
          repeated()
          let before = csupport_allocated()
          repeated()
          precondition(csupport_allocated() < before + 100_000, "row \(row)")
        }
        token.invalidate()
      }
    }
  }
#endif
