// The option `.distinct`, and onChange, which has it: changes to an equal value are left out.
#if Macros
  import Dispatch
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("An observation with .distinct")
  struct DistinctTests {
    let document = Document()
    let panel = Panel()

    @Test("is not notified of a change to an equal value, of a property or of a whole expression")
    func equalValues() {
      document.observe(\.title, options: [.new, .distinct], for: panel) { me, _, change in
        me.log.append("title \(change.oldValue ?? "-")>\(change.newValue!)")
      }
      document.observe(\.author?.name, options: [.old, .new, .distinct], for: panel) { me, _, change in
        me.log.append("name \((change.oldValue ?? nil) ?? "-")>\((change.newValue ?? nil) ?? "-")")
      }
      document.observe(\.isLong, options: .distinct, for: panel) { me, document, _ in
        me.log.append("\(document.isLong)")
      }
      for title in ["", "A", "A"] { document.title = title }
      for name in ["X", "X"] { document.author = Author(name) }
      document.author!.name = "Y"
      for pages in [1, 99, 101, 102, 3] { document.pages = pages }
      #expect(panel.log == ["title ->A", "name ->X", "name X>Y", "true", "false"])
    }

    @Test("is notified of each change of elements that is delivered as one, and not of an equal collection")
    func collections() {
      document.tags = ["a"]
      document.observe(\.tags, options: [.new, .distinct], for: panel) { me, _, change in
        me.log.append("\(change.newValue!)")
      }
      document.tags = ["a"]
      document.mutableArrayValue(for: \.tags)[0] = "a"
      document.tags = ["b"]
      #expect(panel.log == [#"["a"]"#, #"["b"]"#])
    }

    @Test("is not notified of pending changes that are merged into one to an equal value")
    func merged() {
      let (document, queue) = (SharedDocument(), DispatchQueue(label: "serial"))
      for source in [document.source(\.pages), document.source(\.pages).map { $0 }] {
        let log = Log<String>()
        document.pages = 0
        queue.suspend()
        let token = source.delivered(on: queue).coalesced().observe(options: [.new, .distinct]) { change in
          log.add("\(change.oldValue as Any) \(change.newValue!)")
        }
        for pages in [1, 0] { document.pages = pages }
        queue.resume()
        for _ in 1...4 { queue.sync {} }
        #expect(log.all == [])
        document.pages = 2
        while log.all.isEmpty { queue.sync {} }
        #expect(log.all == ["nil 2"])
        token.invalidate()
      }
    }

    @Test("is what onChange makes, of an object, a source, a delivery and several key paths")
    func onChange() {
      let (document, log, queue) = (SharedDocument(), Log<String>(), DispatchQueue(label: "serial"))
      let tokens = [
        document.onChange(of: \.pages) { log.add("token \($0)>\($1)") },
        document.onChange(of: \.pages, for: panel) { _, old, new in log.add("receiver \(old)>\(new)") },
        document.source(\.pages, \.title).onChange(for: panel) { _, _, new in log.add("both \(new.0) \(new.1)") },
        document.source(\.pages).map { $0 / 10 }.onChange { log.add("source \($0)>\($1)") },
        document.source(\.pages).delivered(on: queue).onChange { log.add("delivery \($0)>\($1)") },
      ]
      for pages in [0, 1, 1, 12] { document.pages = pages }
      document.title = ""
      queue.sync {}
      #expect(log.all(after: "token") == ["0>1", "1>12"])
      #expect(log.all(after: "receiver") == ["0>1", "1>12"])
      #expect(log.all(after: "both") == ["1 ", "12 "])
      #expect(log.all(after: "source") == ["0>1"])
      #expect(log.all(after: "delivery") == ["0>1", "1>12"])
      for token in tokens { token.invalidate() }
    }

    @Test("by onChange is notified of the first change also if a newer observer sets the same value in it")
    func setAgain() {
      document.onChange(of: \.pages, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.source(\.pages).onChange(for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      let isFirst = Log<Bool>()
      document.observe(\.pages, for: isFirst) { isFirst, document, _ in
        guard isFirst.all.isEmpty else { return }
        isFirst.add(true)
        document.pages = 14
      }
      document.pages = 14
      #expect(panel.log == ["0>14", "0>14"])
    }

    @Test("by onChange is notified of each change if the type is not Equatable, and of the initial value")
    func unequatable() {
      document.onChange(of: \.author, initial: true, for: panel) { me, _, new in me.log.append(new?.name ?? "-") }
      document.onChange(of: \.tags, initial: true, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.author = nil
      document.tags = []
      #expect(panel.log == ["-", "[]>[]", "-"])
    }

    @Test("is refused with .prior, and of values that are not Equatable")
    func refusals() {
      let listener = ClassicListener()
      expectFaults([.invalidArgument, .invalidArgument, .invalidArgument, .invalidArgument]) {
        #expect(!document.observe(\.title, options: [.distinct, .prior], for: panel) { _, _, _ in }.isActive)
        #expect(!document.observe(\.author, options: .distinct, for: panel) { _, _, _ in }.isActive)
        #expect(!document.observeAll(options: [.distinct, .prior], for: panel) { _, _, _, _ in }.isActive)
        document.addObserver(listener, forKeyPath: "title", options: [.distinct, .prior])
      }
      #expect(document.observationInfo == nil)
    }

    @Test("as a stream of a string key path leaves out equal values, and the same object again")
    func strings() async {
      var titles = document.source("title").values(options: [.initial, .distinct]).makeAsyncIterator()
      for title in ["A", "A", "B"] { document.title = title }
      #expect(await titles.next(3).map { "\($0)" } == ["", "A", "B"])
      var authors = document.source("author", as: Author?.self).values(options: .distinct).makeAsyncIterator()
      let author = Author("X")
      for author in [author, author, nil] { document.author = author }
      #expect(await authors.next(2).map { $0?.name } == ["X", nil])
    }

    @Test("of a classic observer leaves out equal values, too; it gets only the values that it asked for")
    func classic() {
      let listener = ClassicListener()
      document.addObserver(listener, forKeyPath: "title", options: .distinct)
      document.addObserver(listener, forKeyPath: "author.name", options: [.old, .new, .distinct])
      document.title = ""
      document.willChangeValue(forKey: "title")
      document.didChangeValue(forKey: "title")
      #expect(listener.log.all.isEmpty)
      document.title = "A"
      for name in ["X", "X"] { document.author = Author(name) }
      document.author!.name = "Y"
      #expect(listener.log.all == ["title", "author.name <null>>X", "author.name X>Y"])
      document.removeObserver(listener)
    }
  }

  extension Document {
    fileprivate var isLong: Bool { pages > 100 }
  }
#endif
