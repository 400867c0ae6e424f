// Observations on an actor: before the setter returns where the code runs on the actor, later elsewhere, and in order.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("An observation on an actor")
  struct ActorTests {
    let document = SharedDocument()
    let seen = Seen()

    @Test("gets the changes that a task without an actor makes, in order and with the values as they were")
    func fromTasks() async {
      document.observe(\.title, options: [.new], for: seen) { me, _, change in me.add(change.newValue!) }
      for number in 1...100 { document.title = "\(number)" }
      #expect(await seen.all(of: 100) == (1...100).map { "\($0)" })
    }

    @Test("is notified of a change on the actor before the setter returns, after the pending ones")
    func onTheActor() async {
      await seen.observe(document)
      let (pending, delivered) = await seen.run { [document] me in
        elsewhere { document.title = "A" }
        let titles = me.log
        document.title = "B"
        return (titles, me.log)
      }
      #expect(pending == [] && delivered == ["A", "B"])
    }

    @Test("on the main actor is notified before the setter returns there, and later of changes on other threads")
    @MainActor
    func onTheMainActor() async {
      let panel = Panel()
      document.onChange(of: \.title, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      elsewhere { [document] in document.title = "A" }
      #expect(panel.log == [])
      document.title = "B"
      #expect(panel.log == [">A", "A>B"])
      elsewhere { [document] in document.title = "C" }
      while panel.log.count < 3 { await Task.yield() }
      #expect(panel.log.last == "B>C")
    }

    @Test("delivers what is pending before what its initial call changes")
    @MainActor
    func initialCall() {
      let (document, log) = (document, Log<String>())
      func changed(_ name: String, _ new: Int) {
        log.add("\(name) \(new)")
        guard new == 0 else { return }
        elsewhere { document.pages = 1 }
        document.pages = 2
      }
      // In turn, because they change what they observe.
      let panel = Panel()
      for name in ["observe", "onChange", "source", "token"] {
        document.pages = 0
        let token =
          switch name {
          case "observe":
            document.observe(\.pages, options: [.initial, .new], for: panel) { changed(name, $2.newValue!) }
          case "onChange": document.onChange(of: \.pages, initial: true, for: panel) { changed(name, $2) }
          case "source": document.source(\.pages).onChange(initial: true, for: panel) { changed(name, $2) }
          default: document.onChange(of: \.pages, initial: true) { changed(name, $1) }
          }
        token.invalidate()
        #expect(log.all(after: name) == ["0", "1", "2"], "\(name)")
      }
    }

    @Test("is notified at once in a block of the main queue if it is of the main actor, otherwise later")
    func mainQueue() async {
      let log = Log<String>()
      nonisolated(unsafe) let listener = Listener()
      document.onChange(of: \.title, for: listener) { @MainActor _, _, new in log.add(new) }
      document.onChange(of: \.title, for: seen) { me, _, new in
        me.preconditionIsolated()
        me.add(new)
      }
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        DispatchQueue.main.async { [document] in
          document.title = "A"
          log.add("set")
          done.resume()
        }
      }
      #expect(log.all == ["A", "set"])
      #expect(await seen.all(of: 1) == ["A"])
      withExtendedLifetime(listener) {}
    }

    @Test("is notified before the setter returns in code that the actor's executor knows as its own")
    func ownExecutor() {
      let (executor, log) = (QueueExecutor(), Log<String>())
      let clerk = Clerk(executor, log)
      document.onChange(of: \.title, for: clerk) { me, _, new in me.log.add(new) }
      elsewhere { [document] in
        executor.queue.sync {
          document.title = "A"
          log.add("set")
        }
      }
      #expect(log.all == ["A", "set"])
    }

    @Test("gets the initial value first, also if it is pending while a change is made on the actor")
    func initialFirst() async {
      await seen.run { [document] me in
        elsewhere {
          document.onChange(of: \.title, initial: true, for: me) { me, old, new in me.add("\(old)>\(new)") }
        }
        document.title = "A"
      }
      #expect(await seen.log == [">", ">A"])
    }

    @Test("is notified in the order of the changes, also of one that a handler makes while others are pending")
    @MainActor
    func nested() async {
      let panel = Panel()
      document.onChange(of: \.pages, for: panel) { [document] me, old, new in
        me.log.append("\(old)>\(new)")
        if new == 1 { document.pages = 101 }
      }
      elsewhere { [document] in for pages in [1, 2] { document.pages = pages } }
      document.pages = 3
      #expect(panel.log == ["0>1", "1>2", "2>3", "3>101"])
      #expect(document.pages == 101)
    }

    @Test("gets what was pending at a pause when it is resumed, before what it has missed")
    func paused() async {
      await seen.run { [document] me in
        let token = document.onChange(of: \.title, for: me) { me, old, new in me.add("\(old)>\(new)") }
        elsewhere { document.title = "A" }
        token.pause()
        document.title = "B"
        token.resume(deliveringMissed: true)
      }
      #expect(await seen.log == [">A", "A>B"])
    }
  }

  @Suite("The end of an observation on an actor")
  struct ActorEndTests {
    @Test("drops pending changes, also if it comes with the object")
    func drops() async {
      let (document, seen) = (SharedDocument(), Seen())
      await seen.observe(document)
      await seen.run { me in
        elsewhere { document.title = "A" }
        document.stopObserving(for: me)
      }
      await seen.run { me in
        nonisolated(unsafe) var other: SharedDocument? = SharedDocument()
        me.observe(other!)
        elsewhere {
          other!.title = "B"
          other = nil
        }
      }
      for _ in 1...100 { await Task.yield() }
      #expect(await seen.log == [])
    }

    @Test("drops pending changes if the handler itself causes it, however the observation was made")
    @MainActor
    func byHandler() {
      typealias Register = (SharedDocument, Panel, @escaping @MainActor () -> Void) -> () -> Void
      let forms: [Register] = [
        { document, panel, add in document.observe(\.title, for: panel) { _, _, _ in add() }.invalidate },
        { document, panel, add in document.source(\.title, \.pages).observe(for: panel) { _, _ in add() }.invalidate },
        { document, panel, add in document.source(\.title).map { $0 }.observe { _ in add() }.invalidate },
        { document, panel, add in document.observeAll(for: panel) { _, _, _, _ in add() }.invalidate },
        { document, panel, add in document.onChange(of: \.title, for: panel) { _, _, _ in add() }.invalidate },
        { document, _, add in document.onChange(of: \.title) { _, _ in add() }.invalidate },
        { document, panel, add in
          document.source("title").observe(for: panel) { _, _ in add() }
          return { stopObservingAll(for: panel) }
        },
      ]
      for (number, register) in forms.enumerated() {
        let (document, panel) = (SharedDocument(), Panel())
        let ending = Ending()
        var count = 0
        ending.end = register(document, panel) {
          count += 1
          ending.end()
        }
        elsewhere { for title in ["A", "B"] { document.title = title } }
        document.title = "C"  // delivers what is pending, too
        #expect(count == 1, "form \(number)")
      }
    }

    @Test("comes with an actor that is the receiver, which it does not keep")
    func actorsAreNotKept() async {
      let (document, log) = (SharedDocument(), Log<String>())
      do {
        let indexer = Indexer(log)
        await indexer.observe()
        document.observe(\.title, for: indexer) { me, _, _ in me.titles.append("called") }
        document.source(\.title).delivered(on: indexer).observe { _ in }.invalidate()
      }
      #expect(log.all == ["deinit"])
      document.title = "A"
    }

    @Test("comes with the first change after the death of the actor on which the handler would be called")
    func actorsThatHaveDied() async {
      let (document, copy, reasons) = (SharedDocument(), SharedDocument(), Log<NSKeyValueObservation.EndReason>())
      var tokens: [NSKeyValueObservation] = []
      do {
        let indexer = Indexer(Log())
        tokens = await indexer.observe(document, copy)
        tokens.append(document.source(\.title).delivered(on: indexer).onChange { _, _ in })
      }
      for token in tokens { token.onEnd(reasons.add) }
      #expect(reasons.all == [])
      document.title = "A"
      #expect(reasons.all.count == tokens.count && tokens.allSatisfy { !$0.isActive } && copy.title == "")
      #expect(reasons.all.filter { $0 == .receiverDied }.count == tokens.count - 2)
    }
  }

  extension Seen {
    fileprivate func observe(_ document: SharedDocument) {
      document.onChange(of: \.title, for: self) { me, _, new in me.add(new) }
    }
  }

  @MainActor private final class Ending {
    var end: () -> Void = {}
  }

  /// An actor that observes its own object, and others.
  private actor Indexer {
    let document = Document()
    let log: Log<String>
    var titles: [String] = []

    init(_ log: Log<String>) { self.log = log }

    func observe() { document.onChange(of: \.title, for: self) { me, _, new in me.titles.append(new) } }

    /// All but the last one have the actor as receiver.
    func observe(_ document: SharedDocument, _ copy: SharedDocument) -> [NSKeyValueObservation] {
      [
        document.onChange(of: \.title, for: self) { me, _, new in me.titles.append(new) },
        document.observe(\.title, options: [.new], for: self) { me, _, change in me.titles.append(change.newValue!) },
        document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.titles.append(new.0) },
        document.source(\.title).map { $0 + "!" }.onChange(for: self) { me, _, new in me.titles.append(new) },
        document.source(\.title).delivered(on: self).onChange(for: self) { @Sendable _, _, _ in },
        copy.bindTwoWay(\.title, with: document, \.title),
      ]
    }

    deinit { log.add("deinit") }
  }

  /// An actor on an executor of its own.
  private actor Clerk {
    let log: Log<String>
    private nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: QueueExecutor, _ log: Log<String>) {
      self.executor = executor
      self.log = log
    }
  }

  /// A serial executor on a dispatch queue, which can tell whether code runs on it.
  final class QueueExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "executor")
    private static let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func isIsolatingCurrentContext() -> Bool? { DispatchQueue.getSpecific(key: Self.key) == true }
  }
#endif
