// Streams: the values and the changes of a key path as asynchronous sequences.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A stream")
  struct StreamTests {
    @Test("begins with the present value, or with the first change if it is told so")
    func beginning() async {
      let document = Document()
      document.title = "A"
      var (values, later) = (
        document.values(of: \.title).makeAsyncIterator(),
        document.values(of: \.title, options: []).makeAsyncIterator()
      )
      document.title = "B"
      #expect(await values.next() == "A")
      #expect(await values.next() == "B")
      #expect(await later.next() == "B")
    }

    @Test("misses nothing between the call and the first await")
    func nothingIsMissed() async {
      var document: Document? = Document()
      let (values, changes) = (document!.values(of: \.pages), document!.changes(of: \.pages))
      for pages in 1...1000 { document!.pages = pages }
      document = nil
      var received: [Int] = []
      for await pages in values { received.append(pages) }
      #expect(received == Array(0...1000))
      var pairs: [[Int]] = []
      for await change in changes { pairs.append([change.oldValue!, change.newValue!]) }
      #expect(pairs == (1...1000).map { [$0 - 1, $0] })
    }

    @Test("ends when the object is deallocated, after what was sent until then, and does not keep it")
    func objectDies() async {
      var document: Document? = Document()
      weak let observed = document
      var iterator = document!.values(of: \.title).makeAsyncIterator()
      document!.title = "A"
      document = nil
      #expect(observed == nil)
      #expect(await iterator.next() == "")
      #expect(await iterator.next() == "A")
      #expect(await iterator.next() == nil)
      #expect(await iterator.next() == nil)
    }

    @Test("ends a loop that awaits when the object is deallocated")
    func objectDiesWhileAwaited() async {
      let log = Log<String>()
      var document: SharedDocument? = SharedDocument()
      let titles = document!.values(of: \.title)
      let loop = Task {
        for await title in titles { log.add(title) }
        log.add("end")
      }
      while log.all.isEmpty { await Task.yield() }
      document = nil
      await loop.value
      #expect(log.all == ["", "end"])
    }

    @Test("ends when the task is cancelled, and drops what waits")
    func cancellation() async {
      let (document, log) = (SharedDocument(), Log<String>())
      let titles = document.values(of: \.title)
      let awaiting = Task {
        for await title in titles { log.add(title) }
        log.add("end")
      }
      while log.all.isEmpty { await Task.yield() }
      awaiting.cancel()
      await awaiting.value
      #expect(log.all == ["", "end"])
      #expect(document.observationInfo == nil)

      let more = document.values(of: \.title)
      let cancelled = Task {
        while !Task.isCancelled { await Task.yield() }
        for await title in more { log.add(title) }
        log.add("at once")
      }
      document.title = "A"
      cancelled.cancel()
      await cancelled.value
      #expect(log.all.last == "at once")
      #expect(log.all.count == 3)
      #expect(document.observationInfo == nil)
    }

    @Test("ends its observation with its loop, its last iterator, or itself if there was none")
    func observationEnds() async {
      let document = Document()
      for await _ in document.values(of: \.title) { break }
      #expect(document.observationInfo == nil)
      do {
        let stream = document.changes(of: \.title)
        var first: KeyValueStream.Iterator? = stream.makeAsyncIterator()
        var second: KeyValueStream.Iterator? = stream.makeAsyncIterator()
        first = nil
        document.title = "A"
        #expect(await second?.next()?.newValue == "A")
        second = nil
        #expect(document.observationInfo == nil)
        var third = stream.makeAsyncIterator()
        #expect(await third.next() == nil)
        _ = (first, second)
      }
      do {
        let stream = document.values(of: \.title)
        #expect(document.observationInfo != nil)
        _ = stream
      }
      #expect(document.observationInfo == nil)
    }

    @Test("gives all to each iterator that is made before the first element is taken, and the rest to a later one")
    func severalIterators() async {
      let document = Document()
      let pages = document.values(of: \.pages)
      document.pages = 1
      var (first, second) = (pages.makeAsyncIterator(), pages.makeAsyncIterator())
      document.pages = 2
      for expected in 0...2 {
        #expect(await first.next() == expected)
        #expect(await second.next() == expected)
      }
      var third = pages.makeAsyncIterator()
      document.pages = 3
      #expect(await third.next() == 3)
      #expect(await second.next() == 3)
      #expect(await first.next() == 3)
    }

    @Test("keeps as many elements as it is told: all, the newest or the oldest")
    func buffering() async {
      var document: Document? = Document()
      func numbers(_ buffering: KeyValueBuffering, initial: Bool = true) -> KeyValueStream<Int> {
        document!.values(of: \.pages, options: initial ? [.initial] : [], buffering: buffering)
      }
      let (all, newest, oldest) = (numbers(.unbounded), numbers(.newest(3)), numbers(.oldest(3)))
      let (none, neither) = (numbers(.newest(0)), numbers(.oldest(-1)))
      for pages in 1...10 { document!.pages = pages }
      document = nil
      func collected(_ stream: KeyValueStream<Int>) async -> [Int] {
        var elements: [Int] = []
        for await element in stream { elements.append(element) }
        return elements
      }
      #expect(await collected(all) == Array(0...10))
      #expect(await collected(newest) == [8, 9, 10])
      #expect(await collected(oldest) == [0, 1, 2])
      #expect(await collected(none) == [])
      #expect(await collected(neither) == [])
    }

    @Test("hands an element to a loop that awaits, also if none may wait")
    func awaitingLoop() async {
      let (document, log) = (SharedDocument(), Log<Int>())
      let stream = document.values(of: \.pages, options: [], buffering: .newest(0))
      let loop = Task { @MainActor in
        for await pages in stream {
          log.add(pages)
          if pages == 3 { break }
        }
      }
      // The loop awaits whenever the main actor is free.
      for pages in 1...3 {
        while log.all.last != pages {
          await MainActor.run { document.pages = pages }
          await Task.yield()
        }
      }
      await loop.value
      #expect(Set(log.all) == [1, 2, 3])
    }

    @Test("of changes has what the options request, with kinds and indexes")
    func changes() async {
      let document = Document()
      var titles = document.changes(of: \.title, options: [.old, .new, .initial, .prior]).makeAsyncIterator()
      document.title = "A"
      let initial = await titles.next()!
      #expect(initial.newValue == "" && initial.oldValue == nil)
      let prior = await titles.next()!
      #expect(prior.isPrior && prior.oldValue == "" && prior.newValue == nil)
      let change = await titles.next()!
      #expect(!change.isPrior && change.oldValue == "" && change.newValue == "A")

      var tags = document.changes(of: \.tags).makeAsyncIterator()
      document.mutableArrayValue(forKey: "tags").append("x")
      let insertion = await tags.next()!
      #expect(insertion.kind == .insertion && insertion.indexes == [0] && insertion.newValue == ["x"])
    }

    @Test("of values has the whole collection, however it was changed")
    func collections() async {
      let document = Document()
      document.tags = ["a"]
      var (tags, byName) = (
        document.values(of: \.tags).makeAsyncIterator(), document.values(of: "tags").makeAsyncIterator()
      )
      document.mutableArrayValue(forKey: "tags").append("b")
      #expect(await tags.next() == ["a"])
      #expect(await tags.next() == ["a", "b"])
      #expect(await byName.next() as? [String] == ["a"])
      #expect(await byName.next() as? [String] == ["a", "b"])
    }

    @Test("follows computed properties and nested key paths")
    func expressions() async {
      let document = Document()
      var summaries = document.values(of: \.summary).makeAsyncIterator()
      var names = document.values(of: \.author?.name, options: [.initial, .distinct]).makeAsyncIterator()
      document.title = "Emma"
      #expect(await summaries.next() == " (0)")
      #expect(await summaries.next() == "Emma (0)")
      document.author = Author("Jane")
      document.author = Author("Jane")
      document.author!.name = "Ann"
      #expect(await names.next() == .some(nil))
      #expect(await names.next() == "Jane")
      #expect(await names.next() == "Ann")
    }

    @Test("observes string key paths")
    func strings() async {
      var document: Document? = Document()
      let names = document!.values(of: "author.name")
      let changes = document!.changes(of: "author.name")
      document!.author = Author("Jane")
      document!.author!.name = "Ann"
      document = nil
      var received: [String?] = []
      for await name in names { received.append(name as? String) }
      #expect(received == [nil, "Jane", "Ann"])
      var texts: [String] = []
      for await change in changes { texts.append("\(change.oldValue!)>\(change.newValue!)") }
      #expect(texts == ["<null>>Jane", "Jane>Ann"])
    }

    @Test("ends at once if its options are refused")
    func refused() async {
      let document = Document()
      var stream: KeyValueStream<NSKeyValueObservedChange<String>>?
      #expect(faults { stream = document.changes(of: \.title, options: [.prior, .distinct]) } == [8])
      var iterator = stream!.makeAsyncIterator()
      #expect(await iterator.next() == nil)
    }

    @Test("releases what it drops and what it has given, and holds nothing after its end")
    func releases() async {
      let document = Document()
      var authors = document.values(of: \.author, buffering: .newest(1)).makeAsyncIterator()
      weak var (dropped, given, waiting): (Author?, Author?, Author?)
      do {
        let author = Author("A")
        dropped = author
        document.author = author
      }
      do {
        let author = Author("B")
        given = author
        document.author = author
      }
      #expect(dropped == nil)
      #expect(await authors.next()??.name == "B")
      do {
        let author = Author("C")
        waiting = author
        document.author = author
      }
      #expect(given == nil)
      document.author = nil
      #expect(waiting == nil)
    }

    @Test("is made of any source, with its operators")
    func sources() async {
      let (first, last) = (Document(), Document())
      let both = KeyValueSource.combineLatest(first.source(\.pages), last.source(\.pages)) { $0 + $1 }
      var sums = both.values.makeAsyncIterator()
      var changes = both.changes.makeAsyncIterator()
      var even = first.source(\.pages).filter { $0 % 2 == 0 }.map { "\($0)" }.values(options: []).makeAsyncIterator()
      var tags = first.source(\.tags).map { $0 + ["-"] }.values(options: [.distinct]).makeAsyncIterator()
      for pages in 1...2 { for document in [first, last] { document.pages = pages } }
      first.mutableArrayValue(forKey: "tags").append("a")
      for expected in 0...4 { #expect(await sums.next() == expected) }
      for expected in 1...4 {
        let change = await changes.next()!
        #expect(change.oldValue == expected - 1 && change.newValue == expected)
      }
      #expect(await even.next() == "2")
      #expect(await tags.next() == ["a", "-"])
    }

    @Test("of a source ends with the last of its objects, and at once if there is none any more")
    func sourcesEnd() async {
      var (first, last): (Document?, Document?) = (Document(), Document())
      let (one, other) = (first!.source(\.pages), last!.source(\.pages))
      var values = KeyValueSource.merge(one, other).values(options: []).makeAsyncIterator()
      first = nil
      last!.pages = 1
      last = nil
      #expect(await values.next() == 1)
      #expect(await values.next() == nil)
      var none = one.values.makeAsyncIterator()
      #expect(await none.next() == nil)
    }

    @Test("of an expression lasts as long as the stream")
    func expressionSources() async {
      let document = Document()
      do {
        var summaries = KeyValueSource { "\(document.title), \(document.pages)" }.values.makeAsyncIterator()
        document.title = "Emma"
        document.pages = 300
        for expected in [", 0", "Emma, 0", "Emma, 300"] { #expect(await summaries.next() == expected) }
      }
      #expect(document.observationInfo == nil)
    }

    @Test("shows its observation in reports and the graph")
    func graph() {
      let document = Document()
      let stream = document.values(of: \.title)
      withExtendedLifetime(stream) {
        #expect(ObservationGraph.current().observations.contains { $0.note == "stream" && $0.keyPath == "title" })
      }
    }
  }
#endif
