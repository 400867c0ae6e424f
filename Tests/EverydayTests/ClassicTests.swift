// Classic registrations: which end with the object or the observer, and how all of an observer's are removed.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("A classic registration")
  struct ClassicEndTests {
    private let document = Document()
    private let log = Log<String>()

    @Test("is not what a receiver has: a removal by observer is a fault, whose help names what ends that")
    func receiversAreNoObservers() {
      let panel = ClassicPanel()
      document.observe(\.title, for: panel) { me, _, _ in me.log.add("called") }
      let faults = raised { document.removeObserver(panel, forKeyPath: "title") }
      #expect(faults.map(\.code) == [2] && faults[0].help?.contains("stopObserving(_:for:)") == true)
      document.stopObserving(\.title, for: panel)
      document.title = "A"
      #expect(panel.log.all == [])
    }

    @Test("with .endsWithObject ends with the object and is no fault")
    func withObject() {
      let panel = ClassicPanel()
      var document: Document? = Document()
      document!.addObserver(panel, forKeyPath: "title", options: [.new, .endsWithObject])
      document!.addObserver(panel, forKeyPath: "author.name", options: [.new, .endsWithObject])
      document!.title = "A"
      expectFaults([]) { document = nil }
      #expect(panel.log.all == ["title A"])
    }

    @Test("with .endsWithObserver ends with the observer: at once if that is observable, otherwise at the next change")
    func withObserver() {
      var (panel, listener): (ClassicPanel?, ClassicListener?) = (ClassicPanel(log), ClassicListener(log))
      document.addObserver(panel!, forKeyPath: "summary", options: [.new, .endsWithObserver])
      document.title = "A"
      #expect(log.all == ["summary A (0)"])
      #expect(panel!.observationInfo == nil)
      panel = nil
      #expect(document.observationInfo == nil)
      document.addObserver(listener!, forKeyPath: "title", options: [.new, .endsWithObserver])
      document.title = "B"
      listener = nil
      expectFaults([]) { document.title = "C" }
      #expect(document.observationInfo == nil)
      #expect(log.all == ["summary A (0)", "title B"])
    }

    @Test("with .endsWithObserver is removed as usual, and may then be added again")
    func removedByHand() {
      var panel: ClassicPanel? = ClassicPanel(log)
      expectFaults([]) {
        for title in ["A", "B"] {
          document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
          document.title = title
          document.removeObserver(panel!, forKeyPath: "title")
          document.title = "-"
        }
        document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
        document.removeObserver(panel!, forKeyPath: "title", context: nil)
        document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
        panel = nil
        document.title = "C"
      }
      #expect(log.all == ["title A", "title B"])
    }

    @Test("may be removed in the observer's deinit after an assignment there, with and without .endsWithObserver")
    func removedInDeinit() {
      for options: NSKeyValueObservingOptions in [[.new], [.new, .endsWithObserver]] {
        for keyPath in ["title", "author.name"] {
          let document = Document()
          var leaving: Leaving? = Leaving { me in
            document.title = "left"
            document.author = document.author
            document.removeObserver(me, forKeyPath: keyPath)
          }
          document.addObserver(leaving!, forKeyPath: keyPath, options: options)
          expectFaults([]) { leaving = nil }
          #expect(document.title == "left" && document.observationInfo == nil)
        }
      }
    }

    @Test("keeps a dead observer's memory, so that no other observer has its address")
    func addressOfDeadObserver() {
      var listener: ClassicListener? = ClassicListener()
      let address = UInt(bitPattern: Unmanaged.passUnretained(listener!).toOpaque())
      document.addObserver(listener!, forKeyPath: "title", options: .endsWithObserver)
      listener = nil
      let others = (0..<100).map { _ in ClassicListener() }
      #expect(!others.contains { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) == address })
      expectFaults([]) { document.title = "A" }
      #expect(document.observationInfo == nil)
    }

    @Test("with a typed key path: .endsWithObject changes nothing, .endsWithObserver needs a receiver")
    func typed() {
      let panel = Panel()
      let token = document.observe(\.title, options: [.new, .endsWithObject]) { _, _ in }
      #expect(token.isActive)
      document.observe(\.title, options: [.new, .endsWithObserver], for: panel) { me, _, change in
        me.log.append(change.newValue!)
      }
      document.title = "A"
      #expect(panel.log == ["A"])
      let refused = expectFault(.invalidArgument) { document.observe(\.title, options: .endsWithObserver) { _, _ in } }
      #expect(!refused.isActive)
    }
  }

  @Suite("Removal of all of an observer's registrations")
  struct RemovalOfAllTests {
    @Test("with one object, of any key path and context, leaves other observers, objects and closures")
    func ofOneObject() {
      let (document, other) = (Document(), Document())
      let (listener, second) = (ClassicListener(), ClassicListener())
      for each in [document, other] { each.addObserver(listener, forKeyPath: "title") }
      document.addObserver(listener, forKeyPath: "title", context: UnsafeMutableRawPointer(bitPattern: 8))
      for keyPath in ["author.name", "summary"] { document.addObserver(listener, forKeyPath: keyPath) }
      document.addObserver(second, forKeyPath: "title")
      document.observe(\.title, for: listener) { me, _, _ in me.log.add("receiver") }
      for _ in 1...2 { document.removeObserver(listener) }
      document.title = "A"
      document.author = Author("X")
      #expect(listener.log.all == ["receiver"])
      #expect(second.log.all == ["title"])
      other.title = "A"
      #expect(listener.log.all == ["receiver", "title"])
      other.removeObserver(listener)
      document.removeObserver(second)
    }

    @Test("with all objects, any number of times, also in the observer's deinit")
    func everywhere() {
      let documents = (0..<20).map { _ in Document() }
      let (listener, second) = (ClassicListener(), ClassicListener())
      for each in documents {
        for keyPath in ["title", "summary"] { each.addObserver(listener, forKeyPath: keyPath) }
      }
      documents[0].addObserver(second, forKeyPath: "title")
      for _ in 1...2 { listener.removeFromAllObservedObjects() }
      for each in documents { each.title = "A" }
      #expect(listener.log.all.isEmpty && second.log.all == ["title"])
      documents[0].addObserver(listener, forKeyPath: "title")
      documents[0].title = "B"
      #expect(listener.log.all == ["title"])
      for observer in [listener, second] { observer.removeFromAllObservedObjects() }
      var leaving: Leaving? = Leaving { $0.removeFromAllObservedObjects() }
      documents[0].addObserver(leaving!, forKeyPath: "title")
      expectFaults([]) {
        leaving = nil
        documents[0].title = "C"
      }
      #expect(documents.allSatisfy { $0.observationInfo == nil })
    }
  }

  /// A classic observer that runs a function in its deinit.
  private final class Leaving: KeyValueObserver {
    private let leave: (Leaving) -> Void

    init(leave: @escaping (Leaving) -> Void) { self.leave = leave }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}

    deinit { leave(self) }
  }
#endif
