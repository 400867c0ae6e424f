// The view of an object for withObservationTracking.
#if Macros
  import KeyValueObserving
  import Observation
  import Testing

  @Suite("The observed view of an object")
  struct ObservedTests {
    /// Reads something in a tracking, and counts the calls of its `onChange`.
    private func tracked(_ read: () -> Void, _ log: Log<String>) {
      withObservationTracking(read, onChange: { log.add("change") })
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
      document.title = "A"
      document.title = "B"
      #expect(log.all == ["", "still "])
    }

    @Test("observes nothing when no tracking reads it, and nothing when the tracking has ended")
    func costs() {
      let (document, log) = (Document(), Log<String>())
      #expect(document.observed.title == "")
      #expect(document.observationInfo == nil)
      tracked({ for _ in 0..<3 { _ = document.observed.title } }, log)
      let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(document).toOpaque()))
      let graph = ObservationGraph.current()
      #expect(graph.observations.filter { graph.objects[$0.object].address.rawValue == address }.count == 1)
      document.title = "A"
      #expect(document.observationInfo == nil)
      #expect(log.all == ["change"])
    }

    @Test("is read by several trackings, each of which is called")
    func severalTrackings() {
      let (document, log) = (Document(), Log<String>())
      tracked({ _ = document.observed.title }, log)
      tracked({ _ = document.observed.title }, log)
      tracked({ _ = (document.observed.title, document.observed.pages) }, log)
      document.title = "A"
      #expect(log.all.count == 3)
      document.pages = 1
      #expect(log.all.count == 3)
      #expect(document.observationInfo == nil)
    }

    @Test("is tracked again after each change, as a user interface does")
    func trackedAgain() {
      let (document, log) = (Document(), Log<String>())
      func render() { tracked({ log.add(document.observed.title) }, log) }
      render()
      for title in ["A", "B", "C"] {
        document.title = title
        render()
      }
      #expect(log.all == ["", "change", "A", "change", "B", "change", "C"])
    }

    @Test("follows computed properties, and objects through views of them")
    func paths() {
      let (document, log) = (Document(), Log<String>())
      document.author = Author("Jane")
      tracked({ _ = document.observed.summary }, log)
      document.pages = 1
      #expect(log.all.count == 1)
      tracked({ _ = document.observed.author?.name }, log)
      document.author!.name = "Ann"
      #expect(log.all.count == 2)
      tracked({ _ = document.observed.author?.name }, log)
      document.author = nil
      #expect(log.all.count == 3)
      document.observed.author = Author("Emily")
      let author: Author? = document.observed.author
      #expect(author?.name == "Emily")
    }

    @Test("sets properties")
    func setting() {
      let (document, log) = (Document(), Log<String>())
      tracked({ _ = document.observed.title }, log)
      document.observed.title = "A"
      document.observed.pages += 1
      #expect(log.all == ["change"])
      #expect(document.summary == "A (1)")
    }

    @Test("ends with the object, which a tracking does not keep")
    func objectDies() {
      let log = Log<String>()
      var document: Document? = Document()
      weak let observed = document
      weak var captured: Panel?
      do {
        let panel = Panel()
        captured = panel
        nonisolated(unsafe) let kept = panel
        withObservationTracking({ _ = document!.observed.title }, onChange: { log.add(kept.caption) })
      }
      #expect(captured != nil)
      document = nil
      #expect(observed == nil)
      #expect(captured == nil)
      #expect(log.all == [])
      for _ in 0..<100 {
        // Perhaps at the address of the first one.
        let other = Document()
        tracked({ _ = other.observed.title }, log)
        other.title = "A"
      }
      #expect(log.all.count == 100)
    }

    @Test("is a value of Observations")
    func observations() async {
      let document = SharedDocument()
      let titles = Observations { document.observed.title }
      let loop = Task {
        var received: [String] = []
        for await title in titles {
          received.append(title)
          if title == "end" { break }
          await MainActor.run { document.title = title == "" ? "A" : "end" }
        }
        return received
      }
      #expect(await loop.value.last == "end")
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
#endif
