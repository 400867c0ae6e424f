// Delivery on queues, actors and executors.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A delivery on a queue")
  struct DeliveryTests {
    @Test("is in the order of the changes, with the values as they were")
    func inOrder() {
      let (document, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      document.source(\.pages).delivered(on: queue).observe(options: [.old, .new], for: listener) { _, change in
        log.add("\(change.oldValue!)>\(change.newValue!) \(document.pages)")
      }
      for pages in 1...3 { document.pages = pages }
      #expect(log.all.isEmpty)
      queue.resume()
      queue.sync {}
      #expect(log.all == ["0>1 3", "1>2 3", "2>3 3"])
    }

    @Test("is in order on a queue that runs several operations at once, and one at a time")
    func onConcurrentQueues() {
      let (document, log) = (SharedDocument(), Log<Int>())
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 8
      let token = document.source(\.pages).delivered(on: operations).observe(options: [.new]) { change in
        log.add(change.newValue!)
      }
      for pages in 1...1000 { document.pages = pages }
      operations.waitUntilAllOperationsAreFinished()
      while log.all.count < 1000 { operations.waitUntilAllOperationsAreFinished() }
      #expect(log.all == Array(1...1000))
      token.invalidate()
    }

    @Test("merges what waits, with the old value of the first and the new value of the last, if it coalesces")
    func coalesces() {
      let (document, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      document.source(\.pages).delivered(on: queue).coalesced().onChange(for: listener) { _, old, new in
        log.add("\(old)>\(new)")
      }
      queue.suspend()
      for pages in 1...9 { document.pages = pages }
      queue.resume()
      queue.sync {}
      document.pages = 10
      // What is added while the queue delivers is scheduled again, after the first of these.
      while log.all.count < 2 { queue.sync {} }
      #expect(log.all == ["0>9", "9>10"])
    }

    @Test("merges with what has waited during a pause, also if the queue had a turn then")
    func coalescesAcrossPause() {
      let (document, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      let token = document.source(\.pages).delivered(on: queue).coalesced().onChange(for: listener) {
        _, old, new in
        log.add("\(old)>\(new)")
      }
      queue.suspend()
      document.pages = 1
      token.pause()
      queue.resume()
      queue.sync {}
      queue.suspend()
      document.pages = 2
      token.resume(deliveringMissed: true)
      document.pages = 3
      queue.resume()
      queue.sync {}
      #expect(log.all == ["0>3"])
    }

    @Test(
      "makes a pending initial call with the newest value, even if that equals the first one"
    )
    func coalescesInitial() {
      let (document, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      document.source(\.pages).delivered(on: queue).coalesced().onChange(initial: true, for: listener) {
        _, old, new in
        log.add("\(old)>\(new)")
      }
      document.source(\.title).delivered(on: queue).coalesced().onChange(initial: true, for: listener) { _, old, new in
        log.add("\(old)>\(new)")
      }
      document.pages = 1
      document.pages = 2
      for title in ["A", ""] { document.title = title }
      queue.resume()
      queue.sync {}
      #expect(log.all == ["2>2", ">"])
    }

    @Test("lets an interval pass between two deliveries, and loses no change")
    func interval() async throws {
      let (document, log) = (SharedDocument(), Log<(old: Int, new: Int, time: ContinuousClock.Instant)>())
      let queue = DispatchQueue(label: "serial")
      let interval = Duration.milliseconds(20)
      let token = document.source(\.pages).delivered(on: queue).coalesced(every: interval).onChange { old, new in
        log.add((old, new, .now))
      }
      for pages in 1...50 {
        document.pages = pages
        try await Task.sleep(for: .milliseconds(1))
      }
      while log.all.last?.new != 50 { try await Task.sleep(for: interval) }
      let told = log.all
      #expect(told.first!.old == 0 && zip(told, told.dropFirst()).allSatisfy { $0.new == $1.old })
      #expect(zip(told, told.dropFirst()).allSatisfy { $1.time - $0.time >= interval })
      token.invalidate()
    }

    @Test("delivers what is added meanwhile behind what the queue has got, so that other work has its turn")
    func takesTurns() {
      for merges in [false, true] {
        let (document, log) = (SharedDocument(), Log<String>())
        let queue = DispatchQueue(label: "serial")
        let source = document.source(\.pages).delivered(on: queue)
        let token = (merges ? source.coalesced() : source).observe(options: [.new]) { change in
          log.add("\(change.newValue!)")
          if change.newValue == 1 {
            queue.async { log.add("other") }
            document.pages = 2
          }
        }
        document.pages = 1
        while log.all.count < 3 { queue.sync {} }
        #expect(log.all == ["1", "other", "2"])
        token.invalidate()
      }
    }

    @Test("merges changes of a collection's elements into a setting of the whole collection")
    func coalescesCollections() {
      let (list, log) = (SharedList(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let token = list.source(\.items).delivered(on: queue).coalesced().observe(options: [.old, .new]) { change in
        log.add("\(change.kind == .setting) \(change.oldValue!)>\(change.newValue!)")
      }
      let proxy = list.mutableArrayValue(for: \.items)
      proxy.append(1)
      proxy.append(2)
      proxy.remove(at: 0)
      queue.resume()
      queue.sync {}
      #expect(log.all == ["true []>[2]"])
      token.invalidate()
    }

    @Test("drops what waits when the observation ends, the receiver dies or the object dies")
    func drops() {
      let log = Log<String>()
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let document = SharedDocument()
      let token = document.source(\.title).delivered(on: queue).observe { _ in log.add("ended") }
      var panel: SharedDocument? = SharedDocument()
      var listener: SharedListener? = SharedListener()
      document.source(\.title).delivered(on: queue).observe(for: panel!) { _, _ in log.add("observable receiver") }
      document.source(\.title).delivered(on: queue).observe(for: listener!) { _, _ in log.add("other receiver") }
      var other: SharedDocument? = SharedDocument()
      let kept = other!.source(\.title).delivered(on: queue).observe { _ in log.add("object") }
      document.title = "A"
      other!.title = "A"
      token.invalidate()
      panel = nil
      listener = nil
      other = nil
      queue.resume()
      queue.sync {}
      #expect(log.all == [])
      kept.invalidate()
    }

    @Test("drops what waits when the handler itself ends the observation")
    func endsInHandler() {
      let (document, listener, log) = (SharedDocument(), SharedListener(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      let tokens = Log<NSKeyValueObservation>()
      queue.suspend()
      tokens.add(
        document.source(\.pages).delivered(on: queue).observe(options: .new) { change in
          log.add("token \(change.newValue!)")
          tokens.all[0].invalidate()
        })
      tokens.add(
        document.source(\.pages).delivered(on: queue).observe(options: .new, for: listener) { _, change in
          log.add("receiver \(change.newValue!)")
          tokens.all[1].invalidate()
        })
      for pages in 1...3 { document.pages = pages }
      queue.resume()
      queue.sync {}
      #expect(log.all.sorted() == ["receiver 1", "token 1"])
    }

    @Test("delivers the initial value first, and refuses a prior notification and a handler of another actor")
    func options() async {
      let (document, log) = (SharedDocument(), Log<String>())
      let queue = DispatchQueue(label: "serial")
      document.title = "A"
      let token = document.source(\.title).delivered(on: queue).observe(options: [.initial, .new]) { change in
        log.add(change.newValue!)
      }
      document.title = "B"
      // The same: 'B' may be added while the queue delivers.
      while log.all.count < 2 { queue.sync {} }
      #expect(log.all == ["A", "B"])
      token.invalidate()
      let faults = Log<Int>()
      KeyValueFault.withHandler { fault in
        faults.add(fault.code)
        return .ignore
      } in: {
        let refused = document.source(\.title).delivered(on: queue).observe(options: .prior) { _ in }
        #expect(!refused.isActive)
        let other = document.source(\.title).delivered(on: queue).observe { @MainActor _ in }
        #expect(!other.isActive)
        let own = document.source(\.title).delivered(on: MainActor.shared).observe { @MainActor _ in }
        #expect(own.isActive)
        let main = document.source(\.title).delivered(on: DispatchQueue.main).observe { @MainActor _ in }
        #expect(main.isActive)
      }
      #expect(faults.all == [8, 8])
    }

    @Test("on an actor or an executor arrives there")
    func onActors() async {
      let (document, recorder) = (SharedDocument(), Recorder())
      let first = document.source(\.title).delivered(on: recorder).observe(options: .new) { change in
        recorder.assumeIsolated { $0.titles.append(change.newValue!) }
      }
      document.title = "A"
      document.title = "B"
      while await recorder.titles.count < 2 { await Task.yield() }
      #expect(await recorder.titles == ["A", "B"])
      first.invalidate()
      let log = Log<Bool>()
      let second = document.source(\.title).delivered(on: globalConcurrentExecutor).observe { _ in log.add(true) }
      document.title = "C"
      while log.all.isEmpty { await Task.yield() }
      second.invalidate()
    }
  }

  @KeyValueObservable
  final class SharedList: @unchecked Sendable {
    var items: [Int] = []
    var marks: Set<Int> = []
    var other = 0

    init() {}
  }

  actor Recorder {
    var titles: [String] = []
  }

  @Suite("A paused observation")
  struct PauseTests {
    @Test("is not told of changes, and when it is resumed of all of them as one, or not at all")
    func pauses() {
      let document = Document()
      let log = Log<String>()
      let token = document.observe(\.pages, options: [.old, .new]) { _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      document.pages = 1
      token.pause()
      #expect(token.isPaused && token.isActive)
      document.pages = 2
      document.pages = 3
      token.resume(deliveringMissed: true)
      document.pages = 4
      token.pause()
      document.pages = 5
      token.resume()
      token.pause()
      token.resume(deliveringMissed: true)
      #expect(log.all == ["0>1", "1>3", "3>4"])
    }

    @Test("forgets what a collection was during the pause")
    func collections() {
      let (document, panel) = (Document(), Panel())
      let token = document.onChange(of: \.tags, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      token.pause()
      document.tags = ["a"]
      token.resume()
      document.tags = ["a", "b"]
      #expect(panel.log == [#"["a"]>["a", "b"]"#])
    }

    @Test("may be one of an expression, of a receiver, or of several key paths")
    func kinds() {
      let (document, panel) = (Document(), Panel())
      let computed = document.observe(\.summary, options: [.old, .new], for: panel) { me, _, change in
        me.log.append("\(change.oldValue!)>\(change.newValue!)")
      }
      computed.pause()
      document.title = "A"
      document.pages = 2
      computed.resume(deliveringMissed: true)
      #expect(panel.log == [" (0)>A (2)"])
      computed.invalidate()
      panel.log = []
      let several = document.source(\.title, \.pages).onChange(for: panel) { me, _, new in
        let (title, pages) = new
        me.log.append("\(title) \(pages)")
      }
      several.pause()
      document.pages = 3
      #expect(panel.log.isEmpty)
      several.resume(deliveringMissed: true)
      #expect(panel.log == ["A 3"])
    }

    @Test("ends as any other, and takes its closure with it")
    func ends() {
      var document: Document? = Document()
      weak var captured: Listener?
      do {
        nonisolated(unsafe) let listener = Listener()
        captured = listener
        let token = document!.observe(\.title, options: .old) { _, _ in listener.log.append("told") }
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
    @Test("are told once a key at the end, with the values before and after")
    func coalesced() throws {
      let (document, other, panel) = (Document(), Document(), Panel())
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
          other.pages = 8
          other.pages = 9
        }
        document.pages = 3
        return "done"
      }
      #expect(result == "done")
      #expect(Set(panel.log) == ["other 7", "other 9", "0>3", " (0)>A (3)"] && panel.log.count == 4)
      struct Failure: Error {}
      #expect(throws: Failure.self) {
        try withCoalescedChanges(of: document) {
          document.pages = 4
          throw Failure()
        }
      }
      #expect(panel.log.suffix(2).contains("3>4"))
    }

    @Test("are delivered for all objects if none is named, also for those that the code releases")
    func all() {
      let (document, panel) = (Document(), Panel())
      func make() -> Document {
        let made = Document()
        made.observe(\.pages, options: [.old, .new], for: panel) { me, _, change in
          me.log.append("\(change.oldValue!)>\(change.newValue!)")
        }
        return made
      }
      document.author = Author("X")
      document.onChange(of: \.author?.name, for: panel) { me, old, new in me.log.append("\(old!)>\(new!)") }
      withCoalescedChanges {
        let made = make()
        for pages in 1...9 { made.pages = pages }
        for name in ["Y", "Z"] { document.author!.name = name }
        #expect(panel.log == [])
      }
      #expect(panel.log == ["0>9", "X>Z"])
      panel.log = []
      withCoalescedChanges(onlyIfChanged: true) { for name in ["Y", "Z"] { document.author!.name = name } }
      withoutNotifying { document.author!.name = "B" }
      #expect(panel.log == [])
      withCoalescedChanges(of: []) {
        document.author!.name = "A"
        #expect(panel.log == ["Z>A"])
      }
    }

    @Test("are told only if the value has changed, if that is asked for")
    func onlyIfChanged() {
      let (document, panel) = (Document(), Panel())
      document.observe(\.pages, for: panel) { me, _, _ in me.log.append("pages") }
      document.observe(\.title, for: panel) { me, _, _ in me.log.append("title") }
      document.observe(\.summary, for: panel) { me, _, _ in me.log.append("summary") }
      document.observe(\.author, for: panel) { me, _, _ in me.log.append("author") }
      let author = Author("X")
      document.author = author
      panel.log = []
      withCoalescedChanges(of: document, onlyIfChanged: true) {
        document.pages = 1
        document.pages = 0
        document.author = nil
        document.author = author
        document.title = "A"
        document.title = ""
      }
      #expect(panel.log == [])
      withCoalescedChanges(of: document, onlyIfChanged: true) {
        document.pages = 1
        document.title = "A"
        document.title = ""
      }
      #expect(Set(panel.log) == ["pages", "summary"] && panel.log.count == 2)
    }

    @Test("are told to nobody, and expressions are right at their next change")
    func silent() {
      let (document, panel) = (Document(), Panel())
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
    @Test("tells of stored and computed properties, with the key")
    func everyKey() {
      let (document, panel) = (Document(), Panel())
      let token = document.observeAll(for: panel) { me, _, key, change in
        me.log.append("\(key) \(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      document.title = "A"
      #expect(Set(panel.log) == ["title >A", "summary  (0)>A (0)"])
      document.author = Author("X")
      #expect(panel.log.count == 3)
      document.stopObserving(for: panel)
      document.pages = 1
      #expect(panel.log.count == 3 && !token.isActive)
    }
  }
#endif
