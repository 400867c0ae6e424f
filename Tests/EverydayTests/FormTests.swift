// The forms in which a key path is observed, by who uses the object and the receiver: one thread, several threads, an actor.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Each form of an observation")
  struct FormTests {
    let document = SharedDocument()

    @Test("for a receiver that several threads use calls the handler on the thread that makes the change")
    func sharedReceivers() {
      let listener = ClassicListener()
      let main = pthread_self()
      @Sendable func add(_ text: String) {
        listener.log.add(pthread_equal(pthread_self(), main) != 0 ? text : "\(text), other thread")
      }
      document.observe(\.title, options: [.new], for: listener) { me, document, change in
        add("observe \(change.newValue!) \(document.pages) \(me === listener)")
      }
      document.onChange(of: \.title, initial: true, for: listener) { _, old, new in add("onChange \(old)>\(new)") }
      document.source(\.title, \.pages).onChange(initial: true, for: listener) { _, _, new in
        let (title, pages) = new
        add("two \(title) \(pages)")
      }
      document.source(\.title, \.pages, \.author?.name).onChange(initial: true, for: listener) { _, _, new in
        let (title, pages, name) = new
        add("three \(title) \(pages) \(name ?? "-")")
      }
      #expect(listener.log.all == ["onChange >", "two  0", "three  0 -"])
      document.title = "A"
      #expect(listener.log.all.suffix(4) == ["three A 0 -", "two A 0", "onChange >A", "observe A 0 true"])
      elsewhere { [document] in document.pages = 2 }
      #expect(listener.log.all.suffix(2) == ["three A 2 -, other thread", "two A 2, other thread"])
      elsewhere { [document] in document.author = Author("Jane") }
      #expect(listener.log.all.count == 10 && listener.log.all.last == "three A 2 Jane, other thread")
      document.stopObserving(for: listener)
      document.title = "B"
      #expect(listener.log.all.count == 10)
    }

    @Test("for an actor, made anywhere, calls the handler on it")
    func actorsFromAnywhere() async {
      let seen = Seen()
      document.observe(\.title, options: [.new], for: seen) { me, _, change in me.add("observe \(change.newValue!)") }
      document.onChange(of: \.title, initial: true, for: seen) { me, old, new in me.add("onChange \(old)>\(new)") }
      document.source(\.title, \.pages).onChange(initial: true, for: seen) { me, _, new in
        let (title, pages) = new
        me.add("two \(title) \(pages)")
      }
      document.source(\.title, \.pages, \.author?.name).onChange(initial: true, for: seen) { me, _, new in
        let (title, pages, name) = new
        me.add("three \(title) \(pages) \(name ?? "-")")
      }
      document.title = "A"
      let expected = [
        "observe A", "onChange >", "onChange >A", "three  0 -", "three A 0 -", "two  0", "two A 0",
      ]
      await seen.all(of: expected.count)
      #expect(await seen.log.sorted() == expected)
    }

    @Test("for an actor, made in its code, calls the handler before the setter returns")
    func actorsInTheirCode() async {
      let seen = Seen()
      await seen.observe(document)
      #expect(await seen.log == ["onChange >", "two  0", "three  0 -"])
      await seen.run { [document] _ in document.title = "A" }
      #expect(await seen.log.suffix(4) == ["three A 0 -", "two A 0", "onChange >A", "observe A"])
      elsewhere { [document] in document.pages = 3 }
      await seen.all(of: 9)
      #expect(await seen.log.suffix(2).sorted() == ["three A 3 -", "two A 3"])
    }

    @Test("on the main actor, with a receiver that is not Sendable, calls the handler there")
    @MainActor
    func mainActor() async {
      let panel = Panel()
      document.source(\.title, \.pages).onChange(initial: true, for: panel) { me, _, new in
        let (title, pages) = new
        MainActor.assertIsolated()
        me.log.append("two \(title) \(pages)")
      }
      document.source(\.title, \.pages, \.author?.name).onChange(initial: true, for: panel) { me, _, new in
        let (title, pages, name) = new
        MainActor.assertIsolated()
        me.log.append("three \(title) \(pages) \(name ?? "-")")
      }
      document.title = "A"
      #expect(panel.log == ["two  0", "three  0 -", "three A 0 -", "two A 0"])
      elsewhere { [document] in document.pages = 1 }
      #expect(panel.log.count == 4)
      while panel.log.count < 6 { await Task.yield() }
      #expect(panel.log.suffix(2).sorted() == ["three A 1 -", "two A 1"])
    }

    @Test("with a delivery and the old and the new value needs no receiver")
    func deliveredValues() {
      let (queue, log) = (DispatchQueue(label: "serial"), Log<String>())
      queue.suspend()
      let first = document.source(\.pages).delivered(on: queue).onChange(initial: true) { old, new in
        log.add("\(old)>\(new)")
      }
      let second = document.source(\.pages).delivered(on: queue).coalesced().onChange { old, new in
        log.add("latest \(old)>\(new)")
      }
      for pages in 1...3 { document.pages = pages }
      queue.resume()
      for _ in 1...6 { queue.sync {} }
      #expect(log.all.filter { !$0.hasPrefix("latest") } == ["0>0", "0>1", "1>2", "2>3"])
      #expect(log.all.filter { $0.hasPrefix("latest") } == ["latest 0>3"])
      first.invalidate()
      second.invalidate()
    }

    @Test("with a delivery on .main arrives on the main queue, also with a handler of the main actor")
    func onMain() async {
      let log = Log<Int>()
      let tokens = [
        document.source(\.pages).delivered(on: .main).onChange { _, new in
          dispatchPrecondition(condition: .onQueue(.main))
          log.add(new)
        },
        document.source(\.pages).delivered(on: .main).onChange { @MainActor _, new in
          dispatchPrecondition(condition: .onQueue(.main))
          log.add(new)
        },
      ]
      document.pages = 1
      while log.all.count < 2 { await Task.yield() }
      #expect(log.all == [1, 1])
      for token in tokens { token.invalidate() }
    }

    @Test("with a serial executor arrives as one of its jobs, in order")
    func serialExecutor() async {
      let (executor, log) = (QueueExecutor(), Log<String>())
      let token = document.source(\.pages).delivered(on: executor).observe(options: [.new]) { change in
        log.add("\(change.newValue!) \(executor.isCurrent)")
      }
      for pages in 1...3 { document.pages = pages }
      while log.all.count < 3 { await Task.yield() }
      #expect(log.all == ["1 true", "2 true", "3 true"])
      #expect(observerNotes(of: document).contains { $0.contains("on QueueExecutor") })
      token.invalidate()
    }

    @Test("of several key paths, or of both sides of a binding, waits for what runs when it is ended and waited for")
    func endedAndWaitedFor() async {
      for several in [true, false] {
        let (document, other, log) = (SharedDocument(), SharedDocument(), Log<String>())
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let work: @Sendable () -> Void = {
          began.signal()
          goOn.wait()
          log.add("told")
        }
        let listener = ClassicListener()
        let token =
          several
          ? document.source(\.title, \.pages).onChange(for: listener) { _, _, _ in work() }
          : document.bindTwoWay(\.pages, with: other, \.pages, initially: .wait, applied: work)
        let ended = DispatchSemaphore(value: 0)
        Thread {
          document.pages = 1
          ended.signal()
        }.start()
        began.wait()
        Thread {
          usleep(20000)
          log.add("may go on")
          goOn.signal()
        }.start()
        token.invalidateAndWait()
        #expect(log.all == ["may go on", "told"])
        #expect(!token.isActive)
        ended.wait()
        document.pages = 2
        #expect(log.all.count == 2)
      }
    }

    @Test("of a binding in both directions is paused and resumed with both")
    func pausedBinding() {
      let (left, right) = (Document(), Document())
      let token = left.bindTwoWay(\.pages, with: right, \.pages)
      token.pause()
      #expect(token.isPaused)
      left.pages = 1
      #expect(right.pages == 0)
      right.pages = 2
      #expect(left.pages == 1)
      token.resume()
      #expect(!token.isPaused)
      left.pages = 3
      #expect(right.pages == 3)
      right.pages = 4
      #expect(left.pages == 4)
      token.pause()
      left.pages = 5
      token.resume(deliveringMissed: true)
      #expect(right.pages == 5)
      token.invalidate()
    }
  }

  /// The notes of the observations of an object, as the graph shows them.
  func observerNotes(of object: AnyObject) -> [String] {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    let graph = ObservationGraph.current()
    return graph.observations.filter { graph.objects[$0.object].address.rawValue == address }.compactMap(\.note)
  }

  /// What handlers were told, on an actor.
  actor Seen {
    private(set) var log: [String] = []

    func add(_ text: String) { log.append(text) }

    /// Waits until there are so many entries.
    func all(of count: Int) async { while log.count < count { await Task.yield() } }

    func run(_ body: @Sendable (isolated Seen) -> Void) { body(self) }

    func observe(_ document: SharedDocument) {
      document.observe(\.title, options: [.new], for: self) { me, _, change in me.add("observe \(change.newValue!)") }
      document.onChange(of: \.title, initial: true, for: self) { me, old, new in me.add("onChange \(old)>\(new)") }
      document.source(\.title, \.pages).onChange(initial: true, for: self) { me, _, new in
        let (title, pages) = new
        me.add("two \(title) \(pages)")
      }
      document.source(\.title, \.pages, \.author?.name).onChange(initial: true, for: self) { me, _, new in
        let (title, pages, name) = new
        me.add("three \(title) \(pages) \(name ?? "-")")
      }
    }

    func observe(_ source: KeyValueSource<String>) {
      source.observe(options: [.initial, .new], for: self) { me, change in me.add("observe \(change.newValue!)") }
      source.onChange(initial: true, for: self) { me, old, new in me.add("onChange \(old)>\(new)") }
    }
  }

  /// A serial executor on a dispatch queue.
  final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "executor")
    private static let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: Self.key, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }
#endif
