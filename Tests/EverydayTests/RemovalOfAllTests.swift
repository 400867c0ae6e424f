// Removal of all registrations of a classic observer.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("Removal of all of an observer's registrations")
  struct RemovalOfAllTests {
    @Test("with one object, of any key path and context, leaves other observers, objects and closures")
    func ofOneObject() {
      let (document, other) = (Document(), Document())
      let (listener, second) = (ClassicListener(), ClassicListener())
      let context = UnsafeMutableRawPointer(bitPattern: 8)
      for each in [document, other] { each.addObserver(listener, forKeyPath: "title") }
      document.addObserver(listener, forKeyPath: "title", context: context)
      document.addObserver(listener, forKeyPath: "author.name")
      document.addObserver(listener, forKeyPath: "summary")
      document.addObserver(second, forKeyPath: "title")
      document.observe(\.title, for: listener) { me, _, _ in me.log.add("receiver") }
      document.removeObserver(listener)
      document.removeObserver(listener)
      document.title = "A"
      document.author = Author("X")
      #expect(listener.log.all == ["receiver"])
      #expect(second.log.all == ["title"])
      other.title = "A"
      #expect(listener.log.all == ["receiver", "title"])
      other.removeObserver(listener)
      document.removeObserver(second)
    }

    @Test("with all objects, any number of times")
    func everywhere() {
      let documents = (0..<20).map { _ in Document() }
      let (listener, second) = (ClassicListener(), ClassicListener())
      for each in documents {
        each.addObserver(listener, forKeyPath: "title")
        each.addObserver(listener, forKeyPath: "summary")
      }
      documents[0].addObserver(second, forKeyPath: "title")
      listener.removeFromAllObservedObjects()
      listener.removeFromAllObservedObjects()
      for each in documents { each.title = "A" }
      #expect(listener.log.all.isEmpty && second.log.all == ["title"])
      documents[0].addObserver(listener, forKeyPath: "title")
      documents[0].title = "B"
      #expect(listener.log.all == ["title"])
      listener.removeFromAllObservedObjects()
      second.removeFromAllObservedObjects()
      #expect(documents.allSatisfy { $0.observationInfo == nil })
    }

    @Test("with all objects in the observer's deinit")
    func inDeinit() {
      let document = Document()
      var panel: Leaving? = Leaving()
      document.addObserver(panel!, forKeyPath: "title")
      panel = nil
      expectFaults([]) { document.title = "A" }
      #expect(document.observationInfo == nil)
    }
  }

  private final class Leaving: KeyValueObserver {
    deinit { removeFromAllObservedObjects() }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }
#endif
