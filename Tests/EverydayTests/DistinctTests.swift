// The option `.distinct` with typed key paths.
#if Macros
  import Dispatch
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("An observation with .distinct")
  struct DistinctTests {
    let document = Document()
    let panel = Panel()

    @Test("is not told of a change to an equal value")
    func equalValues() {
      document.observe(\.title, options: [.new, .distinct], for: panel) { me, _, change in
        me.log.append("\(change.oldValue ?? "-")>\(change.newValue!)")
      }
      document.title = ""
      document.title = "A"
      document.title = "A"
      #expect(panel.log == ["->A"])
    }

    @Test("compares the value of the whole expression")
    func expressions() {
      document.observe(\.author?.name, options: [.old, .new, .distinct], for: panel) { me, _, change in
        me.log.append("\((change.oldValue ?? nil) ?? "-")>\((change.newValue ?? nil) ?? "-")")
      }
      document.observe(\.isLong, options: .distinct, for: panel) { me, document, _ in
        me.log.append("\(document.isLong)")
      }
      document.author = Author("X")
      document.author = Author("X")
      document.author!.name = "Y"
      #expect(panel.log == ["->X", "X>Y"])
      panel.log = []
      for pages in [1, 99, 101, 102, 3] { document.pages = pages }
      #expect(panel.log == ["true", "false"])
    }

    @Test("is told of each change of elements that is delivered as one, and not of a set to an equal collection")
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

    @Test("is not told of changes that wait and are merged into one to an equal value")
    func merged() {
      let (document, log) = (SharedDocument(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let token = document.source(\.pages).delivered(on: queue).coalesced().observe(options: [.new, .distinct]) {
        change in
        log.add("\(change.oldValue as Any) \(change.newValue!)")
      }
      document.pages = 1
      document.pages = 0
      queue.resume()
      queue.sync {}
      #expect(log.all == [])
      document.pages = 2
      // What is added while the queue delivers is scheduled again, after the first of these.
      while log.all.isEmpty { queue.sync {} }
      #expect(log.all == ["nil 2"])
      token.invalidate()
    }

    @Test("is left out by onChange, of an object, a source, a delivery and several key paths")
    func onChange() {
      let (document, log) = (SharedDocument(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      let panel = Panel()
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
      func told(_ form: String) -> [String] {
        log.all.filter { $0.hasPrefix(form) }.map { String($0.dropFirst(form.count + 1)) }
      }
      #expect(told("token") == ["0>1", "1>12"])
      #expect(told("receiver") == ["0>1", "1>12"])
      #expect(told("both") == ["1 ", "12 "])
      #expect(told("source") == ["0>1"])
      #expect(told("delivery") == ["0>1", "1>12"])
      for token in tokens { token.invalidate() }
    }

    @Test("of a type that is not Equatable, and the initial call, are left out by no onChange")
    func unequatable() {
      let (document, panel) = (Document(), Panel())
      document.onChange(of: \.author, initial: true, for: panel) { me, _, new in me.log.append(new?.name ?? "-") }
      document.onChange(of: \.tags, initial: true, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      document.author = nil
      document.tags = []
      #expect(panel.log == ["-", "[]>[]", "-"])
    }

    @Test("is refused with .prior, and of values that are not Equatable")
    func refusals() {
      expectFaults([.invalidArgument, .invalidArgument]) {
        #expect(!document.observe(\.title, options: [.distinct, .prior], for: panel) { _, _, _ in }.isActive)
        #expect(!document.observe(\.author, options: .distinct, for: panel) { _, _, _ in }.isActive)
      }
      #expect(document.observationInfo == nil)
    }
  }

  extension Document {
    fileprivate var isLong: Bool { pages > 100 }
  }
#endif
