// The option `.distinct` of classic observers.
#if Macros
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("A classic observer with .distinct")
  struct ClassicDistinctTests {
    let document = Document()
    let listener = ClassicListener()

    @Test("is not told of a change to an equal value, and gets only the values that it asked for")
    func equalValues() {
      document.addObserver(listener, forKeyPath: "title", options: .distinct)
      document.addObserver(listener, forKeyPath: "pages", options: [.new, .distinct])
      document.addObserver(listener, forKeyPath: "summary", options: [.old, .new, .distinct])
      document.title = ""
      document.pages = 0
      #expect(listener.log.all.isEmpty)
      document.title = "A"
      #expect(Set(listener.log.all) == ["title", "summary  (0)>A (0)"])
      document.pages = 1
      #expect(Set(listener.log.all.suffix(2)) == ["pages 1", "summary A (0)>A (1)"])
      document.removeObserver(listener)
    }

    @Test("sees the value of the whole path")
    func paths() {
      document.addObserver(listener, forKeyPath: "author.name", options: [.new, .distinct])
      document.author = Author("X")
      document.author = Author("X")
      document.author!.name = "X"
      document.author!.name = "Y"
      document.author = nil
      document.author = nil
      #expect(listener.log.all == ["author.name X", "author.name Y", "author.name <null>"])
      document.removeObserver(listener)
    }

    @Test("is always told at first, and of values that cannot be compared; objects are compared by identity")
    func incomparable() {
      document.title = "A"
      document.addObserver(listener, forKeyPath: "title", options: [.initial, .distinct])
      #expect(listener.log.all == ["title"])
      document.addObserver(listener, forKeyPath: "author", options: .distinct)
      let author = Author("X")
      document.author = author
      document.author = author
      #expect(listener.log.all == ["title", "author"])
      document.removeObserver(listener)
      let holder = Holder()
      holder.addObserver(listener, forKeyPath: "point", options: .distinct)
      holder.point = Point(x: 0)
      holder.point = Point(x: 0)
      #expect(listener.log.all.suffix(2) == ["point", "point"])
      holder.removeObserver(listener)
    }

    @Test("is told of each change of elements, and not of a set to an equal collection")
    func elements() {
      document.addObserver(listener, forKeyPath: "tags", options: [.new, .distinct])
      document.mutableArrayValue(for: \.tags).append("a")
      document.mutableArrayValue(for: \.tags)[0] = "a"
      document.tags = ["a"]
      document.tags = ["b"]
      #expect(listener.log.all == [#"tags insertion ["a"]"#, #"tags replacement ["a"]"#, #"tags ["b"]"#])
      document.removeObserver(listener)
    }

    @Test("and .collectionChanges is not told of a change that leaves all elements equal")
    func collectionChanges() {
      document.addObserver(listener, forKeyPath: "tags", options: [.new, .distinct, .collectionChanges])
      document.tags = ["a"]
      document.tags = ["a"]
      document.tags = ["a", "b"]
      #expect(listener.log.all == [#"tags insertion ["a"]"#, #"tags insertion ["b"]"#])
      document.removeObserver(listener)
    }

    @Test("and .prior is refused with fault KVO0008")
    func prior() {
      expectFault(.invalidArgument) {
        document.addObserver(listener, forKeyPath: "title", options: [.distinct, .prior])
      }
      document.title = "A"
      #expect(listener.log.all.isEmpty && document.observationInfo == nil)
    }

    @Test("is told of manual announcements only if the value is another one")
    func manual() {
      document.addObserver(listener, forKeyPath: "title", options: .distinct)
      document.willChangeValue(forKey: "title")
      document.didChangeValue(forKey: "title")
      #expect(listener.log.all.isEmpty)
      document.removeObserver(listener)
    }
  }

  private struct Point {
    var x: Int
  }

  @KeyValueObservable
  private final class Holder {
    var point = Point(x: 0)
  }
#endif
