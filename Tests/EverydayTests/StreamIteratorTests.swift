// The iterators of a stream: what each gets, and when it ends.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("An iterator of a stream")
  struct StreamIteratorTests {
    @Test("gets only what comes from then on, if the first element was taken before, whatever still waits for another")
    func madeLater() async {
      let document = Document()
      let pages = document.values(of: \.pages)
      document.pages = 1
      var first = pages.makeAsyncIterator()
      #expect(await first.next() == 0)
      var second = pages.makeAsyncIterator()
      document.pages = 2
      #expect(await second.next() == 2)
      #expect(await first.next() == 1)
      #expect(await first.next() == 2)
    }

    @Test("gets nothing if it is made when the object is gone, unless it is the first one")
    func madeAfterTheEnd() async {
      var document: Document? = Document()
      let pages = document!.values(of: \.pages)
      document!.pages = 1
      document = nil
      var (first, second) = (pages.makeAsyncIterator(), pages.makeAsyncIterator())
      #expect(await second.next() == nil)
      #expect(await first.next() == 0)
      #expect(await first.next() == 1)
      #expect(await first.next() == nil)
    }

    @Test("ends with its task, and another one of the stream goes on")
    func cancelled() async {
      let (document, log) = (SharedDocument(), Log<String>())
      let titles = document.values(of: \.title)
      var other = titles.makeAsyncIterator()
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        for await title in titles { log.add(title) }
      }
      task.cancel()
      await task.value
      #expect(log.all == [])
      document.title = "A"
      #expect(await other.next() == "")
      #expect(await other.next() == "A")
    }

    @Test("releases what waits when its task is cancelled, though it is still there")
    func releases() async {
      let task = Task {
        let document = Document()
        var authors = document.values(of: \.author).makeAsyncIterator()
        weak var waiting: Author?
        do {
          let author = Author("A")
          waiting = author
          document.author = author
        }
        document.author = nil
        #expect(waiting != nil)
        while !Task.isCancelled { await Task.yield() }
        let end = await authors.next()
        #expect(end == nil)
        #expect(waiting == nil)
        let again = await authors.next()
        #expect(again == nil)
      }
      task.cancel()
      await task.value
    }

    @Test("of several objects ends the observations of all of them, if it is the last one")
    func severalObjects() async {
      let (first, last) = (Document(), Document())
      do {
        let both = KeyValueSource.combineLatest(first.source(\.pages), last.source(\.pages)) { $0 + $1 }
        var sums = both.values.makeAsyncIterator()
        #expect(await sums.next() == 0)
      }
      #expect(first.observationInfo == nil && last.observationInfo == nil)
    }
  }
#endif
