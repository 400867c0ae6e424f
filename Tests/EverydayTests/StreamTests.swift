// Streams: the values and the changes of key paths and sources as asynchronous sequences, their iterators, and threads.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  extension KeyValueStream.Iterator {
    /// Awaits a number of elements; fewer if the stream ends.
    mutating func next(_ count: Int) async -> [Element] {
      var elements: [Element] = []
      while elements.count < count, let element = await next() { elements.append(element) }
      return elements
    }
  }

  @Suite("A stream")
  struct StreamTests {
    private let document = Document()

    @Test("begins with the present value, or with the first change if it is asked to")
    func beginning() async {
      var values = document.values(of: \.title).makeAsyncIterator()
      var later = document.values(of: \.title, options: []).makeAsyncIterator()
      document.title = "A"
      #expect(await values.next(2) == ["", "A"])
      #expect(await later.next(1) == ["A"])
    }

    @Test("misses nothing between the call and the first await, and then ends with the object, which it does not keep")
    func nothingIsMissed() async {
      var document: Document? = Document()
      weak let observed = document
      let (values, changes) = (document!.values(of: \.pages), document!.changes(of: \.pages))
      for pages in 1...1000 { document!.pages = pages }
      document = nil
      #expect(observed == nil)
      var received: [Int] = []
      for await pages in values { received.append(pages) }
      #expect(received == Array(0...1000))
      var pairs: [[Int]] = []
      for await change in changes { pairs.append([change.oldValue!, change.newValue!]) }
      #expect(pairs == (1...1000).map { [$0 - 1, $0] })
    }

    @Test("ends when the task is cancelled, and drops pending elements")
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
      let more = document.values(of: \.title)
      let cancelled = Task {
        while !Task.isCancelled { await Task.yield() }
        for await title in more { log.add(title) }
        log.add("at once")
      }
      document.title = "A"
      cancelled.cancel()
      await cancelled.value
      #expect(log.all == ["", "end", "at once"])
      #expect(document.observationInfo == nil)
    }

    @Test("ends its observation with its loop, its last iterator, or itself if there was none")
    func observationEnds() async {
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
      let pages = document.values(of: \.pages)
      document.pages = 1
      var (first, second) = (pages.makeAsyncIterator(), pages.makeAsyncIterator())
      document.pages = 2
      #expect(await first.next(3) == [0, 1, 2])
      #expect(await second.next(3) == [0, 1, 2])
      var third = pages.makeAsyncIterator()
      document.pages = 3
      #expect(await third.next() == 3)
      #expect(await second.next() == 3)
      #expect(await first.next() == 3)
    }

    @Test("keeps as many elements as it is asked to: all, the newest or the oldest")
    func buffering() async {
      let rows: [(KeyValueBuffering, [Int])] = [
        (.unbounded, Array(0...10)), (.newest(3), [8, 9, 10]), (.oldest(3), [0, 1, 2]), (.newest(0), []),
        (.oldest(-1), []),
      ]
      for (buffering, expected) in rows {
        var document: Document? = Document()
        var pages = document!.values(of: \.pages, buffering: buffering).makeAsyncIterator()
        for pages in 1...10 { document!.pages = pages }
        document = nil
        #expect(await pages.next(20) == expected, "\(buffering)")
      }
    }

    @Test("passes an element to a loop that awaits, also if none may be pending")
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
      var titles = document.changes(of: \.title, options: [.old, .new, .initial, .prior]).makeAsyncIterator()
      document.title = "A"
      let texts = await titles.next(3).map { "\($0.isPrior) \($0.oldValue ?? "-")>\($0.newValue ?? "-")" }
      #expect(texts == ["false ->", "true >-", "false >A"])
      var tags = document.changes(of: \.tags).makeAsyncIterator()
      document.mutableArrayValue(forKey: "tags").append("x")
      let insertion = await tags.next()!
      #expect(insertion.kind == .insertion && insertion.indexes == [0] && insertion.newValue == ["x"])
    }

    @Test("of values has the whole collection, however it was changed")
    func collections() async {
      document.tags = ["a"]
      var tags = document.values(of: \.tags).makeAsyncIterator()
      var byName = document.source("tags").values().makeAsyncIterator()
      document.mutableArrayValue(forKey: "tags").append("b")
      #expect(await tags.next(2) == [["a"], ["a", "b"]])
      #expect(await byName.next(2).map { $0 as? [String] } == [["a"], ["a", "b"]])
    }

    @Test("follows computed properties and nested key paths, typed and as strings")
    func expressions() async {
      var summaries = document.values(of: \.summary).makeAsyncIterator()
      var names = document.values(of: \.author?.name, options: [.initial, .distinct]).makeAsyncIterator()
      var byString = document.source("author.name", as: String?.self).values().makeAsyncIterator()
      var changes = document.source("author.name").changes().makeAsyncIterator()
      document.title = "Emma"
      #expect(await summaries.next(2) == [" (0)", "Emma (0)"])
      for name in ["Jane", "Jane"] { document.author = Author(name) }
      document.author!.name = "Ann"
      #expect(await names.next(3) == [nil, "Jane", "Ann"])
      #expect(await byString.next(4) == [nil, "Jane", "Jane", "Ann"])
      #expect(await changes.next(1).map { "\($0.oldValue!)>\($0.newValue!)" } == ["<null>>Jane"])
    }

    @Test("ends at once if its options are refused")
    func refused() async {
      var stream: KeyValueStream<NSKeyValueObservedChange<String>>?
      #expect(faults { stream = document.changes(of: \.title, options: [.prior, .distinct]) } == [8])
      var iterator = stream!.makeAsyncIterator()
      #expect(await iterator.next() == nil)
    }

    @Test("releases what it drops and what it has given, and holds nothing after its end")
    func releases() async {
      var authors = document.values(of: \.author, buffering: .newest(1)).makeAsyncIterator()
      func weakly(_ name: String) -> WeakAuthor {
        let author = Author(name)
        document.author = author
        return WeakAuthor(author: author)
      }
      let (dropped, given) = (weakly("A"), weakly("B"))
      #expect(dropped.author == nil)
      #expect(await authors.next()??.name == "B")
      let pending = weakly("C")
      #expect(given.author == nil)
      document.author = nil
      #expect(pending.author == nil)
    }

    private struct WeakAuthor {
      weak var author: Author?
    }

    @Test("is made of any source, with its operators")
    func sources() async {
      let (first, last) = (Document(), Document())
      let both = KeyValueSource.combineLatest(first.source(\.pages), last.source(\.pages)) { $0 + $1 }
      var sums = both.values().makeAsyncIterator()
      var changes = both.changes().makeAsyncIterator()
      var even = first.source(\.pages).filter { $0 % 2 == 0 }.map { "\($0)" }.values(options: []).makeAsyncIterator()
      var tags = first.source(\.tags).map { $0 + ["-"] }.values(options: [.distinct]).makeAsyncIterator()
      for pages in 1...2 { for document in [first, last] { document.pages = pages } }
      first.mutableArrayValue(forKey: "tags").append("a")
      #expect(await sums.next(5) == [0, 1, 2, 3, 4])
      #expect(await changes.next(4).map { [$0.oldValue!, $0.newValue!] } == [[0, 1], [1, 2], [2, 3], [3, 4]])
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
      #expect(await values.next(2) == [1])
      var none = one.values().makeAsyncIterator()
      #expect(await none.next() == nil)
    }

    @Test("of an expression lasts as long as the stream")
    func expressionSources() async {
      do {
        var summaries = KeyValueSource { "\(document.title), \(document.pages)" }.values().makeAsyncIterator()
        document.title = "Emma"
        document.pages = 300
        #expect(await summaries.next(3) == [", 0", "Emma, 0", "Emma, 300"])
      }
      #expect(document.observationInfo == nil)
    }
  }

  @Suite("Streams and threads")
  struct StreamThreadTests {
    @Test("Every set of several threads is an element, in each of two loops")
    func everySet() async {
      let counter = SharedCounter()
      let numbers = counter.changes(of: \.number, options: [])
      let loops = [0, 1].map { _ in numbers.makeAsyncIterator() }.map { iterator in
        nonisolated(unsafe) var iterator = iterator
        return Task {
          for _ in 0..<4000 { _ = await iterator.next() }
        }
      }
      await onThreads(4) { thread in for number in 0..<1000 { counter.number = number } }
      for loop in loops { await loop.value }
    }

    @Test("The initial value comes first while other threads set")
    func initialIsFirst() async {
      let counter = SharedCounter()
      let isDone = Log<Bool>()
      async let setting: Void = onThreads(2) { _ in
        while isDone.all.isEmpty { counter.number += 1 }
      }
      for _ in 0..<200 {
        var changes = counter.changes(of: \.number, options: [.initial, .old, .new]).makeAsyncIterator()
        #expect(await changes.next()?.oldValue == nil)
        // If there is no room for it, the change that came first is dropped.
        let oldest = counter.changes(of: \.number, options: [.initial, .old, .new], buffering: .oldest(1))
        var first = oldest.makeAsyncIterator()
        let change = await first.next()
        #expect(change != nil && change?.oldValue == nil)
      }
      isDone.add(true)
      await setting
    }

    @Test("Loops are begun, left and cancelled while other threads set, and no observation is left")
    func loopsEnd() async {
      let counter = SharedCounter()
      let isDone = Log<Bool>()
      async let setting: Void = onThreads(2) { _ in
        while isDone.all.isEmpty { counter.number = 1 }
      }
      await withTaskGroup(of: Void.self) { group in
        for round in 0..<200 {
          group.addTask {
            let numbers = counter.values(of: \.number, buffering: round % 2 == 0 ? .newest(2) : .unbounded)
            let loop = Task {
              var count = 0
              for await _ in numbers {
                count += 1
                if round % 3 == 0, count == 5 { break }
              }
            }
            if round % 3 != 0 { loop.cancel() }
            await loop.value
          }
        }
      }
      isDone.add(true)
      await setting
      #expect(counter.observationInfo == nil)
    }

    @Test("A loop ends when its object is deallocated on another thread, with each value set before")
    func objectDies() async {
      for _ in 0..<200 {
        var counter: SharedCounter? = SharedCounter()
        let numbers = counter!.values(of: \.number, options: [])
        let loop = Task {
          var received: [Int] = []
          for await number in numbers { received.append(number) }
          return received
        }
        Thread.detachNewThread { [counter = counter.take()] in
          for number in 0..<10 { counter?.number = number }
        }
        #expect(await loop.value == Array(0..<10))
      }
    }
  }
#endif
