// The forms in which a source is observed: for receivers, on actors, with a delivery.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("A source is observed")
  struct SourceFormTests {
    let document = SharedDocument()
    var title: KeyValueSource<String> { document.source(\.title).map { $0.lowercased() } }

    @Test("for a receiver, until that is gone")
    func receiver() {
      var listener: Listener? = Listener()
      let log = Log<String>()
      let token = title.observe(options: [.initial, .old, .new], for: listener!) { me, change in
        me.log.append("told")
        log.add("\(change.oldValue ?? "-")>\(change.newValue!)")
      }
      document.title = "A"
      #expect(listener!.log == ["told", "told"])
      listener = nil
      document.title = "B"
      #expect(log.all == ["->", ">a"])
      #expect(!token.isActive)
    }

    @Test("for an actor, from anywhere")
    func actorFromAnywhere() async {
      let seen = Seen()
      title.observe(options: [.initial, .new], for: seen) { me, change in me.add("observe \(change.newValue!)") }
      title.onChange(initial: true, for: seen) { me, old, new in me.add("onChange \(old)>\(new)") }
      document.title = "A"
      await seen.all(of: 4)
      #expect(await seen.log.sorted() == ["observe ", "observe a", "onChange >", "onChange >a"])
    }

    @Test("for an actor, in its code, which is told before the setter returns")
    func actorInItsCode() async {
      let seen = Seen()
      await seen.run { [document] me in
        me.observe(document.source(\.title).map { $0.lowercased() })
        document.title = "A"
      }
      #expect(await seen.log == ["observe ", "onChange >", "onChange >a", "observe a"])
    }

    @Test("on the main actor without a receiver")
    @MainActor
    func mainActor() async {
      var seen: [String] = []
      let token = title.observe(options: [.initial, .old, .new]) { change in
        MainActor.assertIsolated()
        seen.append("\(change.oldValue ?? "-")>\(change.newValue!)")
      }
      document.title = "A"
      #expect(seen == ["->", ">a"])
      elsewhere { [document] in document.title = "B" }
      #expect(seen.count == 2)
      while seen.count < 3 { await Task.yield() }
      #expect(seen.last == "a>b")
      token.invalidate()
      document.title = "C"
      #expect(seen.count == 3)
    }

    @Test("with a delivery, for a receiver and without one, each change or merged")
    func delivered() {
      let (queue, log) = (DispatchQueue(label: "serial"), Log<String>())
      var listener: ClassicListener? = ClassicListener()
      queue.suspend()
      let tokens = [
        title.delivered(on: queue).observe(options: [.initial, .old, .new]) { change in
          log.add("token \(change.oldValue ?? "-")>\(change.newValue!)")
        },
        title.delivered(on: queue).coalesced().observe(options: [.old, .new]) { change in
          log.add("merged \(change.oldValue ?? "-")>\(change.newValue!)")
        },
        title.delivered(on: queue).observe(options: [.old, .new], for: listener!, userInfo: "a note") { me, change in
          me.log.add("receiver \(change.oldValue ?? "-")>\(change.newValue!)")
        },
        title.delivered(on: queue).onChange(initial: true, for: listener!) { me, old, new in
          me.log.add("values \(old)>\(new)")
        },
        title.delivered(on: queue).onChange { old, new in log.add("plain \(old)>\(new)") },
      ]
      #expect(observerNotes(of: document).contains { $0.contains("on queue serial") && $0.contains("a note") })
      for title in ["A", "B"] { document.title = title }
      #expect(log.all.isEmpty && listener!.log.all.isEmpty)
      queue.resume()
      for _ in 1...12 { queue.sync {} }
      func told(_ form: String, in log: Log<String>) -> [String] {
        log.all.filter { $0.hasPrefix(form) }.map { String($0.dropFirst(form.count + 1)) }
      }
      #expect(told("token", in: log) == ["->", ">a", "a>b"])
      #expect(told("merged", in: log) == [">b"])
      #expect(told("plain", in: log) == [">a", "a>b"])
      #expect(told("receiver", in: listener!.log) == [">a", "a>b"])
      #expect(told("values", in: listener!.log) == [">", ">a", "a>b"])
      let received = listener!.log
      listener = nil
      document.title = "C"
      for _ in 1...12 { queue.sync {} }
      #expect(received.all.count == 5 && told("token", in: log).last == "b>c")
      #expect(tokens.map(\.isActive) == [true, true, false, false, true])
      for token in tokens { token.invalidate() }
    }

    @Test("on a queue only by handlers that may run there, and without .prior")
    func refusals() {
      let queue = DispatchQueue(label: "serial")
      #expect(faults { _ = title.delivered(on: queue).observe(options: .prior) { _ in } } == [8])
      #expect(faults { _ = title.delivered(on: queue).observe { @MainActor _ in } } == [8])
      #expect(faults { _ = title.delivered(on: MainActor.shared).observe { @MainActor _ in } } == [])
    }

    @Test("without duplicates, by any comparison")
    func duplicates() {
      let log = Log<String>()
      let token = document.source(\.title).removeDuplicates { $0.count == $1.count }.onChange { log.add("\($0)>\($1)") }
      for title in ["A", "B", "CC", "DD", ""] { document.title = title }
      #expect(log.all == [">A", "A>CC", "CC>"])  // each with the value that was told before it
      token.invalidate()
    }

    @Test("as an expression, in coalesced changes, and not told of a value that is the same at their end")
    func coalescedExpression() {
      let (one, log) = (Document(), Log<String>())
      let summary = KeyValueSource { one.summary }
      let token = summary.observe(options: [.old, .new]) { log.add("\($0.oldValue!)>\($0.newValue!)") }
      withCoalescedChanges(of: one, onlyIfChanged: true) {
        one.title = "A"
        one.title = ""
      }
      #expect(log.all.isEmpty)
      withCoalescedChanges(of: one, onlyIfChanged: true) {
        one.title = "A"
        one.pages = 1
      }
      #expect(log.all == [" (0)>A (1)"])
      token.invalidate()
    }
  }
#endif
