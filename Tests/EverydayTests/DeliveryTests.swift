// Delivery on queues, actors and executors: in order, or merged.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  /// A stored number whose getter can have another thread set it.
  private final class HookedCounter: KeyValueObservable, @unchecked Sendable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
    private static let key = KeyValueObservationHeader.key("number")
    private let lock = NSLock()
    private var stored = 0
    private var setNext: Int?

    var number: Int {
      get {
        let (value, next) = lock.withLock { (stored, setNext.take()) }
        if let next { elsewhere { self.number = next } }
        return value
      }
      set { _$kvo.change(Self.key, { self.stored }, { self.lock.withLock { self.stored = newValue } }) }
    }

    func setWhenRead(to number: Int) { lock.withLock { setNext = number } }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("number", key, \HookedCounter.number, \HookedCounter?.?.number)
    }
  }

  @Suite("A delivery on a queue")
  struct DeliveryTests {
    let document = SharedDocument()
    let listener = SharedListener()
    let log = Log<String>()
    let queue = DispatchQueue(label: "serial")
    var pages: KeyValueDeliveredSource<Int> { document.source(\.pages).delivered(on: queue) }

    @Test("is in the order of the changes, with the values as they were")
    func inOrder() {
      queue.suspend()
      pages.observe(options: [.old, .new], for: listener) { _, change in
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
      let (log, operations) = (Log<Int>(), OperationQueue())
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

    @Test("merges pending changes if it coalesces, with the old value of the first and the new value of the last")
    func coalesces() {
      pages.coalesced().onChange(for: listener) { _, old, new in log.add("\(old)>\(new)") }
      queue.suspend()
      for pages in 1...9 { document.pages = pages }
      queue.resume()
      queue.sync {}
      document.pages = 10
      // What is added while the queue delivers is scheduled again, after the first of these.
      while log.all.count < 2 { queue.sync {} }
      #expect(log.all == ["0>9", "9>10"])
    }

    @Test("lets an interval pass between two deliveries, and loses no change")
    func interval() async throws {
      let log = Log<(old: Int, new: Int, time: ContinuousClock.Instant)>()
      let interval = Duration.milliseconds(20)
      let token = pages.coalesced(every: interval).onChange { old, new in log.add((old, new, .now)) }
      for pages in 1...50 {
        document.pages = pages
        try await Task.sleep(for: .milliseconds(1))
      }
      while log.all.last?.new != 50 { try await Task.sleep(for: interval) }
      let calls = log.all
      #expect(calls.first!.old == 0 && zip(calls, calls.dropFirst()).allSatisfy { $0.new == $1.old })
      #expect(zip(calls, calls.dropFirst()).allSatisfy { $1.time - $0.time >= interval })
      token.invalidate()
    }

    @Test("delivers what is added meanwhile behind what the queue has got, so that other work has its turn")
    func takesTurns() {
      for merges in [false, true] {
        let (document, log) = (SharedDocument(), Log<String>())
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

    @Test("delivers each change of a collection's elements; merged ones are a setting of the whole collection")
    func collections() {
      let list = SharedList()
      queue.suspend()
      let items = list.source(\.items).delivered(on: queue)
      let tokens = [
        items.observe(options: [.old, .new]) { log.add("each \($0.kind) \($0.oldValue ?? [])>\($0.newValue ?? [])") },
        items.coalesced().observe(options: [.old, .new]) { log.add("\($0.kind) \($0.oldValue!)>\($0.newValue!)") },
      ]
      let proxy = list.mutableArrayValue(for: \.items)
      for item in [1, 2] { proxy.append(item) }
      proxy.remove(at: 0)
      queue.resume()
      for _ in 1...4 { queue.sync {} }
      #expect(log.all(after: "each") == ["insertion []>[1]", "insertion []>[2]", "removal [1]>[]"])
      #expect(log.all(after: "setting") == ["[]>[2]"])
      for token in tokens { token.invalidate() }
    }

    @Test("drops pending changes when the observation ends, the receiver dies or the object dies")
    func drops() {
      queue.suspend()
      let token = pages.observe { _ in log.add("ended") }
      var panel: SharedDocument? = SharedDocument()
      var listener: SharedListener? = SharedListener()
      pages.observe(for: panel!) { _, _ in log.add("observable receiver") }
      pages.observe(for: listener!) { _, _ in log.add("other receiver") }
      var other: SharedDocument? = SharedDocument()
      let kept = other!.source(\.pages).delivered(on: queue).observe { _ in log.add("object") }
      document.pages = 1
      other!.pages = 1
      token.invalidate()
      panel = nil
      listener = nil
      other = nil
      queue.resume()
      queue.sync {}
      #expect(log.all == [])
      kept.invalidate()
    }

    @Test("drops pending changes when the handler itself ends the observation")
    func endsInHandler() {
      let tokens = Log<NSKeyValueObservation>()
      queue.suspend()
      tokens.add(
        pages.observe(options: .new, for: listener) { _, change in
          log.add("\(change.newValue!)")
          tokens.all[0].invalidate()
        })
      for pages in 1...3 { document.pages = pages }
      queue.resume()
      queue.sync {}
      #expect(log.all == ["1"])
    }

    @Test("releases the closure at the end at once, also if the queue still holds a delivery")
    func closuresAreReleased() {
      queue.suspend()
      weak var captured: Panel?
      do {
        nonisolated(unsafe) let panel = Panel()
        captured = panel
        let token = pages.observe { _ in panel.caption = "called" }
        document.pages = 1
        token.invalidate()
      }
      #expect(captured == nil)
      queue.resume()
    }

    @Test("delivers the initial value first, and refuses a prior notification and a handler of another actor")
    func options() async {
      for source in [document.source(\.title), document.source(\.title).map { $0 }] {
        let log = Log<String>()
        document.title = "A"
        let token = source.delivered(on: queue).observe(options: [.initial, .new]) { log.add($0.newValue!) }
        document.title = "B"
        // The same: 'B' may be added while the queue delivers.
        while log.all.count < 2 { queue.sync {} }
        #expect(log.all == ["A", "B"])
        token.invalidate()
        #expect(faults { _ = source.delivered(on: queue).observe(options: .prior) { _ in } } == [8])
        #expect(faults { _ = source.delivered(on: queue).observe { @MainActor _ in } } == [8])
        #expect(faults { _ = source.delivered(on: MainActor.shared).observe { @MainActor _ in } } == [])
        #expect(faults { _ = source.delivered(on: DispatchQueue.main).observe { @MainActor _ in } } == [])
      }
    }

    @Test("begins with what another thread sets while the initial value is read, as do streams")
    func initialIsNewest() async {
      let (counter, log) = (HookedCounter(), Log<String>())
      counter.setWhenRead(to: 5)
      let token = counter.source(\.number).delivered(on: queue).observe(options: [.initial, .old, .new]) {
        log.add("\($0.oldValue.map { "\($0)" } ?? "-")>\($0.newValue!)")
      }
      counter.number = 6
      while log.all.last != "5>6" { queue.sync {} }
      #expect(log.all == ["->5", "5>6"])
      token.invalidate()
      counter.setWhenRead(to: 7)
      var numbers = counter.values(of: \.number).makeAsyncIterator()
      counter.number = 8
      for number in [7, 8] { #expect(await numbers.next() == number) }
    }

    @Test("of what operators make has each form: with a receiver and without one, each change or merged ones")
    func forms() {
      let title = document.source(\.title).map { $0.lowercased() }.delivered(on: queue)
      var listener: SharedListener? = SharedListener()
      queue.suspend()
      let tokens = [
        title.observe(options: [.initial, .old, .new]) { log.add("token \($0.oldValue ?? "-")>\($0.newValue!)") },
        title.coalesced().observe(options: [.old, .new]) { log.add("merged \($0.oldValue!)>\($0.newValue!)") },
        title.observe(options: [.old, .new], for: listener!, userInfo: "a note") { _, change in
          log.add("receiver \(change.oldValue!)>\(change.newValue!)")
        },
        title.onChange(initial: true, for: listener!) { _, old, new in log.add("values \(old)>\(new)") },
        title.onChange { old, new in log.add("plain \(old)>\(new)") },
      ]
      #expect(graphed(document).contains { $0.note == "on queue serial, userInfo a note" })
      for title in ["A", "B"] { document.title = title }
      #expect(log.all.isEmpty)
      queue.resume()
      for _ in 1...12 { queue.sync {} }
      #expect(log.all(after: "token") == ["->", ">a", "a>b"])
      #expect(log.all(after: "merged") == [">b"])
      #expect(log.all(after: "receiver") == [">a", "a>b"])
      #expect(log.all(after: "values") == [">", ">a", "a>b"])
      #expect(log.all(after: "plain") == [">a", "a>b"])
      listener = nil
      document.title = "C"
      for _ in 1...12 { queue.sync {} }
      #expect(log.all(after: "token").last == "b>c")
      #expect(tokens.map(\.isActive) == [true, true, false, false, true])
      for token in tokens { token.invalidate() }
    }

    @Test("on an actor or an executor arrives there, in order")
    func onActors() async {
      let (seen, executor) = (Seen(), QueueExecutor())
      let title = document.source(\.title)
      let tokens = [
        title.delivered(on: seen).observe(options: .new) { change in
          seen.assumeIsolated { $0.add(change.newValue!) }
        },
        title.delivered(on: globalConcurrentExecutor).observe { _ in log.add("concurrent") },
        title.delivered(on: executor).observe(options: .new) { change in
          log.add("serial \(change.newValue!) \(executor.isIsolatingCurrentContext()!)")
        },
        title.delivered(on: .main).onChange { _, new in
          dispatchPrecondition(condition: .onQueue(.main))
          log.add("main \(new)")
        },
        title.delivered(on: .main).onChange { @MainActor _, new in log.add("main \(new)") },
      ]
      for title in ["A", "B"] { document.title = title }
      #expect(await seen.all(of: 2) == ["A", "B"])
      while log.all.count < 8 { await Task.yield() }
      #expect(log.all(after: "serial") == ["A true", "B true"])
      #expect(log.all(after: "main").sorted() == ["A", "A", "B", "B"])
      #expect(graphed(document).contains { $0.note?.contains("on QueueExecutor") == true })
      for token in tokens { token.invalidate() }
    }

    @Test("calls onEnd when the closure that runs has returned, and at once if none runs", arguments: [false, true])
    func end(merges: Bool) {
      let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let source = merges ? pages.coalesced() : pages
      weak var captured: SharedListener?
      let token: NSKeyValueObservation
      do {
        let listener = SharedListener()
        captured = listener
        token = source.onChange { _, _ in
          begun.signal()
          goOn.wait()
          withExtendedLifetime(listener) { log.add("returned") }
        }
      }
      token.onEnd { [weak captured] in log.add("\($0) \(captured == nil)") }
      document.pages = 1
      begun.wait()
      token.invalidate()
      #expect(!token.isActive && captured != nil && log.all == [])
      goOn.signal()
      queue.sync {}
      #expect(log.all == ["returned", "invalidated true"])
      source.onChange(for: listener) { _, _, _ in }.onEnd { log.add("\($0)") }.invalidate()
      #expect(log.all.count == 3)
    }

    @Test("stays pending during a pause; resuming delivers it, and what was missed", arguments: [false, true])
    func paused(merges: Bool) {
      queue.suspend()
      let token = (merges ? pages.coalesced() : pages).observe(options: [.old, .new]) { change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      document.pages = 1
      token.pause()
      queue.resume()
      queue.sync {}
      queue.suspend()
      document.pages = 2
      #expect(log.all.isEmpty)
      token.resume(deliveringMissed: true)
      document.pages = 3
      queue.resume()
      for _ in 1...4 { queue.sync {} }
      #expect(log.all == (merges ? ["0>3"] : ["0>1", "1>2", "2>3"]))
      token.invalidate()
    }
  }
#endif
