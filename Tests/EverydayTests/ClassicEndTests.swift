// Classic registrations that end with the object or the observer.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("A classic registration")
  struct ClassicEndTests {
    @Test("is not what a receiver has: a removal by observer names what ends that")
    func receiversAreNoObservers() {
      let (document, panel) = (Document(), ClassicPanel())
      document.observe(\.title, for: panel) { me, _, _ in me.log.add("told") }
      nonisolated(unsafe) var help: [String] = []
      KeyValueFault.withHandler {
        help.append("\($0.code) \($0.help ?? "-")")
        return .ignore
      } in: {
        document.removeObserver(panel, forKeyPath: "title")
      }
      #expect(help.count == 1 && help.allSatisfy { $0.hasPrefix("2 ") && $0.contains("stopObserving(_:for:)") })
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

    @Test("without an option is fault KVO0001 at the object's death and KVO0004 after the observer's")
    func withoutOptions() {
      let panel = ClassicPanel()
      var document: Document? = Document()
      document!.addObserver(panel, forKeyPath: "title")
      expectFault(.deallocatedWhileObserved) { document = nil }
      let other = Document()
      var listener: ClassicListener? = ClassicListener()
      other.addObserver(listener!, forKeyPath: "title", options: .endsWithObject)
      listener = nil
      expectFault(.danglingObserver) { other.title = "A" }
    }

    @Test("with .endsWithObserver ends at once at the death of an observer that is observable")
    func withObservableObserver() {
      let log = Log<String>()
      let document = Document()
      var panel: ClassicPanel? = ClassicPanel(log)
      document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
      document.addObserver(panel!, forKeyPath: "summary", options: [.new, .endsWithObserver])
      document.title = "A"
      #expect(Set(log.all) == ["title A", "summary A (0)"])
      #expect(panel!.observationInfo == nil)
      panel = nil
      #expect(document.observationInfo == nil)
      expectFaults([]) { document.title = "B" }
      #expect(log.all.count == 2)
    }

    @Test("with .endsWithObserver ends at the next change after the death of any other observer")
    func withOtherObserver() {
      let log = Log<String>()
      let document = Document()
      var listener: ClassicListener? = ClassicListener(log)
      document.addObserver(listener!, forKeyPath: "title", options: [.new, .endsWithObserver])
      document.title = "A"
      listener = nil
      expectFaults([]) { document.title = "B" }
      #expect(document.observationInfo == nil)
      #expect(log.all == ["title A"])
    }

    @Test("with .endsWithObserver also ends with the object, before or after the observer")
    func eitherFirst() {
      for isObjectFirst in [true, false] {
        var document: Document? = Document()
        var panel: ClassicPanel? = ClassicPanel()
        var listener: ClassicListener? = ClassicListener()
        document!.addObserver(panel!, forKeyPath: "title", options: .endsWithObserver)
        document!.addObserver(listener!, forKeyPath: "tags", options: .endsWithObserver)
        expectFaults([]) {
          if isObjectFirst { document = nil }
          panel = nil
          listener = nil
          document = nil
        }
      }
    }

    @Test("with .endsWithObserver is removed as usual, and may then be added again")
    func removedByHand() {
      let log = Log<String>()
      let document = Document()
      var panel: ClassicPanel? = ClassicPanel(log)
      expectFaults([]) {
        document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
        document.removeObserver(panel!, forKeyPath: "title")
        document.title = "A"
        document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
        document.title = "B"
        document.removeObserver(panel!, forKeyPath: "title", context: nil)
        document.addObserver(panel!, forKeyPath: "title", options: [.new, .endsWithObserver])
        panel = nil
        document.title = "C"
      }
      #expect(log.all == ["title B"])
    }

    @Test("with .endsWithObserver may be removed in the observer's deinit; a second removal by hand is a fault")
    func removedInDeinit() {
      let document = Document()
      var panel: LeavingPanel? = LeavingPanel(document)
      #expect(panel!.log.all.isEmpty)
      expectFaults([]) { panel = nil }
      #expect(document.observationInfo == nil)
      let other = ClassicPanel()
      document.addObserver(other, forKeyPath: "title", options: .endsWithObserver)
      document.removeObserver(other, forKeyPath: "title")
      expectFault(.removedTwice) { document.removeObserver(other, forKeyPath: "title") }
    }

    @Test("may be removed in the observer's deinit after a set there, with and without .endsWithObserver")
    func setInDeinit() {
      for options: NSKeyValueObservingOptions in [[.new], [.new, .endsWithObserver]] {
        for keyPath in ["title", "author.name"] {
          let document = Document()
          var leaving: SettingInDeinit? = SettingInDeinit(document, keyPath, options)
          #expect(leaving != nil)
          expectFaults([]) { leaving = nil }
          #expect(document.title == "left")
          #expect(document.observationInfo == nil)
        }
      }
    }

    @Test("keeps a dead observer's memory, so that no other observer has its address")
    func addressOfDeadObserver() {
      let document = Document()
      var listener: ClassicListener? = ClassicListener()
      let address = UInt(bitPattern: Unmanaged.passUnretained(listener!).toOpaque())
      document.addObserver(listener!, forKeyPath: "title", options: .endsWithObserver)
      listener = nil
      let others = (0..<100).map { _ in ClassicListener() }
      #expect(!others.contains { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) == address })
      expectFaults([]) { document.title = "A" }
      #expect(document.observationInfo == nil)
    }

    @Test("with .endsWithObserver of an object with itself ends with it")
    func ofItself() {
      var object: SelfObserver? = SelfObserver()
      object!.addObserver(object!, forKeyPath: "count", options: .endsWithObserver)
      object!.count = 1
      #expect(object!.calls == 1)
      expectFaults([]) { object = nil }
    }

    @Test("with .endsWithObserver may be removed in its initial callback")
    func removedInInitialCallback() {
      let document = Document()
      let once = Once(document)
      document.addObserver(once, forKeyPath: "title", options: [.initial, .endsWithObserver])
      #expect(once.calls == 1)
      #expect(document.observationInfo == nil)
      document.title = "A"
      #expect(once.calls == 1)
    }

    @Test("with a typed key path: .endsWithObject changes nothing, .endsWithObserver needs a receiver")
    func typed() {
      let (document, panel) = (Document(), Panel())
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

  /// Removes itself when it is deallocated, although it need not.
  private final class LeavingPanel: ClassicPanel {
    let document: Document

    init(_ document: Document) {
      self.document = document
      super.init()
      document.addObserver(self, forKeyPath: "title", options: .endsWithObserver)
    }

    deinit { document.removeObserver(self, forKeyPath: "title") }
  }

  /// Sets what it observes, and then removes itself, when it is deallocated.
  private final class SettingInDeinit: KeyValueObserver {
    let document: Document
    let keyPath: String

    init(_ document: Document, _ keyPath: String, _ options: NSKeyValueObservingOptions) {
      (self.document, self.keyPath) = (document, keyPath)
      document.addObserver(self, forKeyPath: keyPath, options: options)
    }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}

    deinit {
      document.title = "left"
      document.author = document.author
      document.removeObserver(self, forKeyPath: keyPath)
    }
  }

  @KeyValueObservable
  private final class SelfObserver: KeyValueObserver {
    var count = 0
    @NotObserved var calls = 0

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      calls += 1
    }
  }

  /// Removes itself in its callback.
  @KeyValueObservable
  private final class Once: KeyValueObserver {
    @NotObserved let document: Document
    @NotObserved var calls = 0

    init(_ document: Document) { self.document = document }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      calls += 1
      document.removeObserver(self, forKeyPath: keyPath!)
    }
  }
#endif
