// Sources of several key paths.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("The source of several key paths")
  struct SourceOfSeveralTests {
    private let document = Document()
    private let log = Log<String>()

    @Test func `has the tuple of their values, before and after a change of one of them`() {
      document.source(\.title, \.pages, \.author?.name, \.summary).onChange(for: log) { log, old, new in
        log.add("\(old.0) \(old.1) \(old.2 ?? "-") \(old.3) -> \(new.0) \(new.1) \(new.2 ?? "-") \(new.3)")
      }
      document.title = "A"
      document.author = Author("X")
      #expect(log.all == [" 0 -  (0) -> A 0 - A (0)", "A 0 - A (0) -> A 0 X A (0)"])
    }

    @Test func `does not notify of equal values, also if it is observed with observe`() {
      let token = document.source(\.title, \.pages).observe { [log] _ in log.add("told") }
      document.title = ""
      document.pages = 0
      #expect(log.all == [])
      document.pages = 1
      #expect(log.all == ["told"])
      token.invalidate()
    }

    @Test func `notifies once of what is changed together, by the program or by bindings`() {
      let other = Document()
      other.source(\.pages).bind(to: document, \.pages)
      other.source(\.pages).map { "\($0) pages" }.bind(to: document, \.title)
      document.source(\.title, \.pages).onChange(for: log) { log, _, new in log.add("\(new.0), \(new.1)") }
      other.pages = 1
      withCoalescedChanges {
        document.title = "A"
        document.pages = 2
      }
      #expect(log.all == ["1 pages, 1", "A, 2"])
    }

    @Test func `notifies of what is announced manually, and of what is declared to depend on it`() {
      let gauge = Gauge()
      gauge.source(\.level, \.text, \.unit).onChange(for: log) { log, _, new in log.add("\(new)") }
      gauge.level = 1
      gauge.unit = "bar"
      #expect(log.all == [#"(1, "1", "")"#, #"(1, "1", "bar")"#])
    }

    @Test func `ends with its object, of which it keeps nothing`() {
      var document: Document? = Document()
      document!.author = Author("X")
      let source = document!.source(\.author, \.title)
      weak let author = document!.author
      let token = source.observe(options: [.old, .new]) { _ in }
      document!.title = "A"
      #expect(source.value?.1 == "A")
      document!.author = nil
      #expect(author == nil)
      document = nil
      #expect(source.value == nil && !token.isActive)
      #expect(!source.observe { _ in }.isActive)
    }

    @Test func `refuses .prior and .distinct with KVO0008, and key paths that can never notify with KVO0011`() {
      for options: NSKeyValueObservingOptions in [.prior, .distinct] {
        let raised = faults { #expect(!document.source(\.title, \.pages).observe(options: options) { _ in }.isActive) }
        #expect(raised == [8])
      }
      let gauge = Gauge()
      let raised = faults { gauge.source(\.fixed, \.fixed).onChange(for: log) { _, _, _ in } }
      #expect(raised == [11])
    }

    @Test func `is named by its key paths in reports`() {
      let token = document.source(\.title, \.author?.name).observe { _ in }
      #expect(ObservationGraph.current().observations.contains { $0.keyPath == "title, author.name" })
      token.invalidate()
    }

    @Test("has the isolation of the code that observes, with any number of key paths")
    @MainActor
    func isolation() async {
      let (shared, view) = (SharedDocument(), View())
      shared.source(\.title, \.pages).onChange(for: view) { me, _, new in me.shown.append("\(new.0) \(new.1)") }
      await Task.detached { shared.title = "A" }.value
      shared.pages = 1
      while view.shown.count < 2 { await Task.yield() }
      #expect(view.shown == ["A 0", "A 1"])
    }
  }

  @KeyValueObservable
  private final class Gauge {
    @NotObserved private var stored = 0
    var unit = ""
    var level: Int {
      get { stored }
      set {
        willChangeValue(for: \.level)
        stored = newValue
        didChangeValue(for: \.level)
      }
    }
    var text: String { String(stored) }
    var fixed: Int { 1 }
    class func keyPathsForValuesAffectingText() -> Set<String> { ["level"] }
  }

  @MainActor
  private final class View {
    var shown: [String] = []
  }
#endif
