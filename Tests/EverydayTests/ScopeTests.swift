// Paused observations, coalesced and silent changes, and the observation of every key.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("A paused observation")
  struct PauseTests {
    @Test("is notified of no changes, and when it is resumed of all of them as one, or not at all")
    func pauses() {
      let (document, log) = (Document(), Log<String>())
      let token = document.observe(\.pages, options: [.old, .new]) { _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      document.pages = 1
      token.pause()
      #expect(token.isPaused && token.isActive)
      for pages in [2, 3] { document.pages = pages }
      token.resume(deliveringMissed: true)
      document.pages = 4
      token.pause()
      document.pages = 5
      token.resume()
      token.pause()
      token.resume(deliveringMissed: true)
      #expect(log.all == ["0>1", "1>3", "3>4"])
    }

    @Test("of onChange is notified of what it missed as a change of the value that it passed last")
    func silentBefore() {
      let (document, log) = (Document(), Log<String>())
      let tokens = [
        document.onChange(of: \.pages) { log.add("\($0)>\($1)") },
        document.onChange(of: \.summary) { log.add("\($0)>\($1)") },
        document.source(\.pages).removeDuplicates().onChange { log.add("\($0)>\($1)") },
      ]
      document.pages = 2
      for (silent, missed) in [(6, 2), (6, 7)] {
        withoutNotifying(document) { document.pages = silent }
        for token in tokens { token.pause() }
        document.pages = missed
        for token in tokens { token.resume(deliveringMissed: true) }
      }
      #expect(log.all.sorted() == [" (0)> (2)", " (2)> (7)", "0>2", "0>2", "2>7", "2>7"])
    }

    @Test("forgets what it passed last: the next old value is that at resume(), and a change back is delivered")
    func forgets() {
      let (document, panel) = (SharedDocument(), Panel())
      let queue = DispatchQueue(label: "paused")
      let pages = document.source(\.pages)
      let logs = (0..<9).map { _ in Log<String>() }
      @Sendable func add(_ index: Int, _ old: Int, _ new: Int) { logs[index].add("\(old)>\(new)") }
      let tokens = [
        document.onChange(of: \.pages) { add(0, $0, $1) },
        document.onChange(of: \.pages, for: panel) { add(1, $1, $2) },
        pages.onChange { add(2, $0, $1) },
        pages.map { $0 }.onChange(for: panel) { add(3, $1, $2) },
        pages.delivered(on: queue).onChange { add(4, $0, $1) },
        pages.delivered(on: queue).coalesced().onChange { add(5, $0, $1) },
        pages.filter { _ in true }.onChange { add(6, $0, $1) },
        pages.removeDuplicates().onChange { add(7, $0, $1) },
        KeyValueSource.merge(pages).onChange { add(8, $0, $1) },
      ]
      document.pages = 1
      queue.sync {}
      for token in tokens { token.resume() }  // is not paused: does nothing
      for (missed, next) in [(5, 1), (5, 7)] {
        for token in tokens { token.pause() }
        document.pages = missed
        for token in tokens { token.resume() }
        document.pages = next
        for _ in 1...3 { queue.sync {} }
      }
      for (index, log) in logs.enumerated() { #expect(log.all == ["0>1", "5>1", "5>7"], "observation \(index)") }
      for token in tokens { token.invalidate() }
    }

    @Test("of elements has the collection at resume() as the old value of their next change")
    func forgetsElements() {
      let (document, log) = (Document(), Log<String>())
      let tokens = [
        document.onChange(of: \.tags) { old, new in log.add("\(old)>\(new)") },
        document.onChange(of: \.tags, for: log) { log, old, new in log.add("\(old)>\(new)") },
        document.source("tags", as: [String].self).onChange { old, new in log.add("\(old)>\(new)") },
      ]
      document.tags = ["A"]
      for token in tokens { token.pause() }
      document.tags = ["B"]
      for token in tokens { token.resume() }
      document.mutableArrayValue(for: \.tags).append("C")
      #expect(log.all.suffix(3) == Array(repeating: #"["B"]>["B", "C"]"#, count: 3)[...])
    }

    @Test("of elements has the collection at resume() as the old value also if it is resumed off its actor")
    func forgetsElementsElsewhere() async {
      let seen = Seen()
      await seen.run { me in
        let document = SharedDocument()
        document.tags = ["A"]
        let token = document.onChange(of: \.tags, for: me) { me, old, new in me.add("\(old)>\(new)") }
        token.pause()
        document.tags = ["B"]
        elsewhere { token.resume() }
        document.mutableArrayValue(for: \.tags).append("C")
      }
      #expect(await seen.log == [#"["B"]>["B", "C"]"#])
    }

    @Test("with .collectionChanges has the elements at resume() as those before its next change")
    func forgetsChangesOfElements() async {
      let (document, panel, log) = (Document(), Panel(), Log<String>())
      let options: NSKeyValueObservingOptions = [.new, .collectionChanges]
      @Sendable func add<Value>(_ change: NSKeyValueObservedChange<Value>) {
        log.add("\(change.kind) \(Array(change.indexes ?? [])) \(change.newValue.map { "\($0)" } ?? "-")")
      }
      let tokens = [
        document.observe(\.tags, options: options) { add($1) },
        document.observe(\.tags, options: options, for: panel) { add($2) },
        document.source(\.tags).observe(options: options) { add($0) },
        document.source("tags", as: [String].self).observe(options: options) { add($0) },
        document.observeAll(options: options, for: panel) { if $2 == "tags" { add($3) } },
      ]
      for change in [{ document.tags.append("D") }, { document.mutableArrayValue(for: \.tags).append("D") }] {
        document.tags = ["A"]
        for token in tokens { token.pause() }
        document.mutableArrayValue(for: \.tags).append("B")
        for token in tokens { token.resume(deliveringMissed: true) }
        #expect(log.all.suffix(5) == Array(repeating: #"insertion [1] ["B"]"#, count: 5)[...])
        for token in tokens { token.pause() }
        document.mutableArrayValue(for: \.tags).append("C")
        for token in tokens { token.resume() }
        change()
        #expect(log.all.suffix(5) == Array(repeating: #"insertion [3] ["D"]"#, count: 5)[...])
      }
      let seen = Seen()
      await seen.run { me in
        let shared = SharedDocument()
        let token = shared.observe(\.tags, options: options, for: me) { me, _, change in
          me.add("\(change.kind) \(change.newValue!)")
        }
        token.pause()
        shared.tags = ["A"]
        elsewhere { token.resume() }
        shared.tags.append("B")
      }
      #expect(await seen.log == [#"insertion ["B"]"#])
    }

    @Test("with .collectionChanges gets both parts of a change, also if it is paused and resumed between them")
    func betweenParts() {
      let (document, panel, log) = (Document(), Panel(), Log<String>())
      document.tags = ["A", "B"]
      nonisolated(unsafe) var token: NSKeyValueObservation?
      token = document.observe(\.tags, options: .collectionChanges, for: panel) { _, _, change in
        log.add("\(change.kind)")
        token?.pause()
        token?.resume()
      }
      document.tags = ["X"]
      #expect(log.all == ["replacement", "removal"])
    }

    @Test("may be one of a collection, an expression, several key paths, several objects or a two-way binding")
    func kinds() {
      let (document, other, panel) = (Document(), Document(), Panel())
      let both = KeyValueSource.combineLatest(document.source(\.pages), other.source(\.pages)) { $0 + $1 }
      let tokens = [
        document.onChange(of: \.tags, for: panel) { me, old, new in me.log.append("\(old)>\(new)") },
        document.onChange(of: \.summary, for: panel) { me, old, new in me.log.append("\(old)>\(new)") },
        document.source(\.title, \.pages).onChange(for: panel) { me, _, new in me.log.append("\(new.0) \(new.1)") },
        both.onChange(for: panel) { me, old, new in me.log.append("\(old)>\(new)") },
        other.bindTwoWay(\.title, with: document, \.title),
      ]
      for token in tokens { token.pause() }
      #expect(tokens.allSatisfy { $0.isPaused })
      document.title = "A"
      document.pages = 2
      document.tags = ["a"]
      #expect(panel.log.isEmpty && other.title == "")
      for token in tokens.reversed() { token.resume(deliveringMissed: true) }
      #expect(panel.log == ["0>2", "A 2", " (0)>A (2)", #"[]>["a"]"#])
      #expect(other.title == "A")
    }

    @Test("ends as any other, and takes its closure with it")
    func ends() {
      var document: Document? = Document()
      weak var captured: Listener?
      do {
        nonisolated(unsafe) let listener = Listener()
        captured = listener
        let token = document!.observe(\.title, options: .old) { _, _ in listener.log.append("called") }
        token.pause()
        document!.title = "A"
        token.invalidate()
        token.resume(deliveringMissed: true)
        #expect(listener.log.isEmpty)
      }
      #expect(captured == nil)
      let token = document!.observe(\.title, options: .old) { _, _ in }
      token.pause()
      document = nil
      token.resume(deliveringMissed: true)
      #expect(!token.isActive && !token.isPaused)
    }
  }

  @Suite("Coalesced and silent changes")
  struct ScopeTests {
    private let document = Document()
    private let panel = Panel()

    @Test("notify once for each key at the end, with the values before and after")
    func coalesced() throws {
      let other = Document()
      document.observe(\.pages, options: [.old, .new], for: panel) { me, _, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!)")
      }
      document.onChange(of: \.summary, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      other.onChange(of: \.pages, for: panel) { me, old, new in me.log.append("other \(new)") }
      let result = withCoalescedChanges(of: document) {
        document.pages = 1
        document.title = "A"
        other.pages = 7
        withCoalescedChanges(of: document, other) {
          document.pages = 2
          for pages in [8, 9] { other.pages = pages }
        }
        document.pages = 3
        return "done"
      }
      #expect(result == "done")
      #expect(panel.log.sorted() == [" (0)>A (3)", "0>3", "other 7", "other 9"])
      struct Failure: Error {}
      #expect(throws: Failure.self) {
        try withCoalescedChanges(of: document) {
          document.pages = 4
          throw Failure()
        }
      }
      #expect(panel.log.suffix(2).contains("3>4"))
    }

    @Test("notify for all objects if none is named, also for those that the code releases")
    func all() {
      document.author = Author("X")
      document.onChange(of: \.author?.name, for: panel) { me, old, new in me.log.append("\(old!)>\(new!)") }
      withCoalescedChanges {
        let made = Document()
        made.onChange(of: \.pages, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
        for pages in 1...9 { made.pages = pages }
        for name in ["Y", "Z"] { document.author!.name = name }
        #expect(panel.log == [])
      }
      #expect(panel.log == ["0>9", "X>Z"])
      withCoalescedChanges(onlyIfChanged: true) { for name in ["Y", "Z"] { document.author!.name = name } }
      withoutNotifying { document.author!.name = "B" }
      #expect(panel.log.count == 2)
      withCoalescedChanges(of: []) {
        document.author!.name = "A"
        #expect(panel.log.last == "Z>A")
      }
    }

    @Test("notify only if the value has changed, if that is asked for")
    func onlyIfChanged() {
      let author = Author("X")
      document.author = author
      document.observe(\.pages, for: panel) { me, _, _ in me.log.append("pages") }
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("title") }
      document.observe(\.summary, for: panel) { me, _, _ in me.log.append("summary") }
      document.observe(\.author, for: panel) { me, _, _ in me.log.append("author") }
      withCoalescedChanges(of: document, onlyIfChanged: true) {
        for pages in [1, 0] { document.pages = pages }
        for author in [nil, author] { document.author = author }
        for title in ["A", ""] { document.title = title }
      }
      #expect(panel.log == [])
      withCoalescedChanges(of: document, onlyIfChanged: true) {
        document.pages = 1
        for title in ["A", ""] { document.title = title }
      }
      #expect(panel.log.sorted() == ["pages", "summary"])
    }

    @Test("notify nobody if they are silent, and expressions are right at their next change")
    func silent() {
      document.author = Author("X")
      document.onChange(of: \.author?.name, for: panel) { me, old, new in me.log.append("\(old!)>\(new!)") }
      document.onChange(of: \.pages, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      withoutNotifying(document) {
        document.author = Author("Y")
        document.pages = 5
      }
      #expect(panel.log == [])
      document.author!.name = "Z"
      document.pages = 6
      #expect(panel.log == ["X>Z", "5>6"])
    }
  }

  @Suite("Observation of every key")
  struct ObserveAllTests {
    @Test("notifies of stored and computed properties, with the key")
    func everyKey() {
      let (document, panel) = (Document(), Panel())
      let token = document.observeAll(for: panel) { me, _, key, change in
        me.log.append("\(key) \(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      document.title = "A"
      #expect(Set(panel.log) == ["title >A", "summary  (0)>A (0)"])
      document.stopObserving(\.summary, for: panel)
      document.author = Author("X")
      document.pages = 1
      #expect(panel.log.count == 4 && token.isActive)
      document.stopObserving(for: panel)
      document.pages = 2
      #expect(panel.log.count == 4 && !token.isActive)
    }
  }
#endif
