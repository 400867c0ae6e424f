// Views of observable objects that are the values of properties, for withObservationTracking.
#if Macros
  import CSupport
  import KeyValueObserving
  import Observation
  import Testing

  @Suite("The observed view of an object's object")
  struct ObservedViewTests {
    @Test("depends on the property that it is read from: stored or computed, optional or not")
    func properties() {
      let (library, log) = (Library(), Log<String>())
      withObservationTracking {
        let founder: KeyValueObserved<Author> = library.observed.founder
        log.add(founder.name)
      } onChange: {
        log.add("founder")
      }
      withObservationTracking {
        let oldest: KeyValueObserved<Author> = library.observed.oldest
        log.add(oldest.name)
      } onChange: {
        log.add("oldest")
      }
      withObservationTracking {
        let newest: KeyValueObserved<Author>? = library.observed.newest
        log.add(newest?.name ?? "-")
      } onChange: {
        log.add("newest")
      }
      #expect(log.all == ["Ada", "Ada", "-"])
      library.founder = Author("Eve")
      #expect(log.all.suffix(2).sorted() == ["founder", "oldest"])
      library.chosen = Author("Ida")
      #expect(log.all.count == 6 && log.all.last == "newest")
      #expect(library.observationInfo == nil)
    }

    @Test("leaves no memory behind when trackings have ended")
    func leavesNothing() async {
      await #expect(processExitsWith: .success) {
        /// How much is allocated more after the use of new objects.
        func growth(_ use: (Document) -> Void) -> Int {
          let documents = (0..<5_000).map { _ in Document() }
          let before = Int(csupport_allocated())
          for document in documents { use(document) }
          return Int(csupport_allocated()) - before
        }
        func track(_ document: Document) {
          withObservationTracking({ _ = document.observed.title }, onChange: {})
          document.title = "A"
        }
        func observe(_ document: Document) {
          document.observe(\.title) { _, _ in }.invalidate()
          document.title = "A"
        }
        _ = growth(track)
        let usual = growth(observe)
        precondition(growth(track) < usual + 200_000)
      }
    }
  }

  @KeyValueObservable
  private final class Library {
    var founder: Author = Author("Ada")
    var chosen: Author?
    var oldest: Author { founder }
    var newest: Author? { chosen }
  }
#endif
