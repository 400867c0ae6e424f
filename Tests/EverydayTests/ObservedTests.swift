// The view of an object for withObservationTracking.
#if Macros
  import KeyValueObserving
  import Observation
  import Testing

  @Suite("The observed view of an object")
  struct ObservedTests {
    private let document = Document()
    private let log = Log<String>()

    /// Reads something in a tracking, and logs the calls of its `onChange`.
    private func track(_ name: String = "change", _ read: () -> Void) {
      withObservationTracking(read, onChange: { [log] in log.add(name) })
    }

    @Test("calls onChange once, before the next change of what was read")
    func onChange() {
      let (document, log) = (SharedDocument(), Log<String>())
      withObservationTracking {
        log.add(document.observed.title)
      } onChange: {
        log.add("still \(document.title)")
      }
      document.pages = 1
      #expect(log.all == [""])
      for title in ["A", "B"] { document.title = title }
      #expect(log.all == ["", "still "])
    }

    @Test("observes nothing when no tracking reads it, and nothing when the tracking has ended")
    func costs() {
      #expect(document.observed.title == "")
      #expect(document.observationInfo == nil)
      track { for _ in 0..<3 { _ = document.observed.title } }
      #expect(graphed(document).count == 1)
      document.title = "A"
      #expect(document.observationInfo == nil)
      #expect(log.all == ["change"])
    }

    @Test("is tracked again after each change, as a user interface does")
    func trackedAgain() {
      func render() { track { log.add(document.observed.title) } }
      render()
      for title in ["A", "B", "C"] {
        document.title = title
        render()
      }
      #expect(log.all == ["", "change", "A", "change", "B", "change", "C"])
    }

    @Test("follows computed properties, and objects through views of them; it sets properties, too")
    func paths() {
      document.author = Author("Jane")
      track("summary") { _ = document.observed.summary }
      document.observed.pages += 1
      track("name") { _ = document.observed.author?.name }
      document.author!.name = "Ann"
      track("author") { _ = document.observed.author?.name }
      document.author = nil
      #expect(log.all == ["summary", "name", "author"])
      document.observed.author = Author("Emily")
      let author: Author? = document.observed.author
      #expect(author?.name == "Emily" && document.pages == 1)
    }

    @Test("of an object's object depends on the property that it is read from, a stored or a computed one")
    func objectsOfObjects() {
      let library = Library()
      track("founder") {
        let founder: KeyValueObserved<Author> = library.observed.founder
        log.add(founder.name)
      }
      track("newest") {
        let newest: KeyValueObserved<Author>? = library.observed.newest
        log.add(newest?.name ?? "-")
      }
      library.founder = Author("Eve")
      library.chosen = Author("Ida")
      #expect(log.all == ["Ada", "-", "founder", "newest"])
      #expect(library.observationInfo == nil)
    }

    @Test("ends with the object, which a tracking does not keep")
    func objectDies() {
      var document: Document? = Document()
      weak let observed = document
      weak var captured: Panel?
      do {
        let panel = Panel()
        captured = panel
        nonisolated(unsafe) let kept = panel
        withObservationTracking({ _ = document!.observed.title }, onChange: { [log] in log.add(kept.caption) })
      }
      #expect(captured != nil)
      document = nil
      #expect(observed == nil && captured == nil)
      #expect(log.all == [])
      for _ in 0..<100 {
        // Perhaps at the address of the first one.
        let other = Document()
        track { _ = other.observed.title }
        other.title = "A"
      }
      #expect(log.all.count == 100)
    }

    @Test("loses no change that is made on another thread while a tracking reads")
    func threads() async {
      let counter = SharedCounter()
      for _ in 0..<500 {
        let isCalled = Log<Bool>()
        async let setting: Void = onThreads(2) { _ in counter.number = 1 }
        withObservationTracking {
          _ = counter.observed.number
        } onChange: {
          isCalled.add(true)
        }
        await setting
        // Whatever happened meanwhile, the tracking follows.
        counter.number = 2
        #expect(!isCalled.all.isEmpty)
      }
    }
  }

  @KeyValueObservable
  private final class Library {
    var founder: Author = Author("Ada")
    var chosen: Author?
    var newest: Author? { chosen }
  }
#endif
