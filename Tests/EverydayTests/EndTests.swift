// Ends of observations: with an actor, with a queue that still holds a delivery, in the initial call, and the reasons given afterwards.
#if Macros
  import Dispatch
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  actor Indexer {
    let document = Document()
    let log: Log<String>
    var titles: [String] = []

    init(_ log: Log<String>) { self.log = log }

    func observe() { document.onChange(of: \.title, for: self) { me, _, new in me.titles.append(new) } }

    deinit { log.add("deinit") }
  }

  actor TitleReader {
    var titles: [String] = []

    /// All but the last one have the actor as receiver.
    func observe(_ document: SharedDocument, _ copy: SharedDocument) -> [NSKeyValueObservation] {
      [
        document.onChange(of: \.title, for: self) { me, _, new in me.titles.append(new) },
        document.observe(\.title, options: [.new], for: self) { me, _, change in me.titles.append(change.newValue!) },
        document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.titles.append(new.0) },
        document.source(\.title).map { $0 + "!" }.onChange(for: self) { me, _, new in me.titles.append(new) },
        document.source(\.title).delivered(on: self).onChange(for: self) { @Sendable _, _, _ in },
        copy.bindTwoWay(\.title, with: document, \.title),
      ]
    }
  }

  @Suite("The end of an observation")
  struct EndTests {
    @Test("comes with an actor that is the receiver, which it does not keep")
    func actorsAreNotKept() async {
      let log = Log<String>()
      do {
        let indexer = Indexer(log)
        await indexer.observe()
      }
      #expect(log.all == ["deinit"])
      let document = SharedDocument()
      do {
        let indexer = Indexer(log)
        document.observe(\.title, for: indexer) { me, _, _ in me.titles.append("told") }
        let token = document.source(\.title).delivered(on: indexer).observe { _ in }
        token.invalidate()
      }
      #expect(log.all == ["deinit", "deinit"])
      document.title = "A"
    }

    @Test("comes with the first change after the death of the actor on which the handler would be called")
    func actorsThatAreGone() async {
      let (document, copy, reasons) = (SharedDocument(), SharedDocument(), Log<NSKeyValueObservation.EndReason>())
      var tokens: [NSKeyValueObservation] = []
      do {
        let reader = TitleReader()
        tokens = await reader.observe(document, copy)
        tokens.append(document.source(\.title).delivered(on: reader).onChange { _, _ in })
      }
      for token in tokens { token.onEnd(reasons.add) }
      #expect(reasons.all == [])
      document.title = "A"
      #expect(reasons.all.count == tokens.count && tokens.allSatisfy { !$0.isActive } && copy.title == "")
      #expect(reasons.all.filter { $0 == .receiverDied }.count == tokens.count - 2)
    }

    @Test("releases the closure at once, also if a queue still holds a delivery")
    func closuresAreReleased() {
      let document = SharedDocument()
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      weak var captured: Panel?
      do {
        nonisolated(unsafe) let panel = Panel()
        captured = panel
        let token = document.source(\.title).delivered(on: queue).observe { _ in panel.caption = "told" }
        document.title = "A"
        token.invalidate()
      }
      #expect(captured == nil)
      queue.resume()
    }

    @Test("in the initial call of one of several key paths ends them all")
    func inTheInitialCall() {
      let (document, panel) = (Document(), Panel())
      let all = document.observeAll(options: [.initial], for: panel) { me, document, _, _ in
        me.log.append("called")
        document.stopObserving(for: me)
      }
      document.pages = 1
      #expect(panel.log == ["called"] && !all.isActive)
    }

    @Test("has its reason also afterwards")
    func reasons() {
      let reasons = Log<NSKeyValueObservation.EndReason>()
      var document: Document? = Document()
      let panel = Panel()
      let stopped = document!.onChange(of: \.title, for: panel) { _, _, _ in }
      document!.stopObserving(for: panel)
      stopped.onEnd(reasons.add)
      let several = document!.source(\.title, \.pages).onChange(for: panel) { _, _, _ in }
      several.invalidate()
      several.onEnd(reasons.add)
      #expect(reasons.all == [.invalidated, .invalidated])
      let left = document!.onChange(of: \.title, for: panel) { _, _, _ in }
      document = nil
      left.onEnd(reasons.add)
      #expect(reasons.all.last == .objectDied)
    }

    @Test("of an object comes before the closures for its deinitialization are called")
    func beforeDeinit() {
      let log = Log<String>()
      var document: Document? = Document()
      document!.onDeinit { log.add("deinit") }
      document!.onChange(of: \.title, for: Panel()) { _, _, _ in }
      let token = document!.observe(\.title) { _, _ in }.onEnd { _ in log.add("end") }
      document = nil
      #expect(log.all == ["end", "deinit"])
      withExtendedLifetime(token) {}
    }
  }

  @Suite("The order on an actor")
  @MainActor
  struct OrderTests {
    final class View {
      var log: [String] = []
    }

    @Test("is not affected when one of several key paths is no longer observed")
    func oneOfSeveral() {
      let (document, view) = (SharedDocument(), View())
      document.observeAll(for: view) { me, _, key, _ in me.log.append(key) }
      document.stopObserving(\.title, for: view)
      document.title = "A"
      document.pages = 1
      #expect(view.log == ["pages"])
    }

    @Test("is that of the changes, also of one that a handler makes while others wait")
    func nested() async {
      let (document, view) = (SharedDocument(), View())
      document.onChange(of: \.pages, for: view) { me, old, new in
        me.log.append("\(old)>\(new)")
        if new == 1 { document.pages = 101 }
      }
      elsewhere {
        document.pages = 1
        document.pages = 2
      }
      document.pages = 3
      #expect(view.log == ["0>1", "1>2", "2>3", "3>101"])
      #expect(document.pages == 101)
    }
  }
#endif
