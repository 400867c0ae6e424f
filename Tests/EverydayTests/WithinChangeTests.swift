// What is registered, changed or moved to another thread in the middle of a change.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Failure: Error {}

  @KeyValueObservable
  private final class Playlist: @unchecked Sendable {
    var tracks: [Int] = []
    var tags: Set<String> = []
    var count: Int { tracks.count }
    init() {}
  }

  /// Runs each job on a thread of its own.
  private final class Threads: TaskExecutor, @unchecked Sendable {
    private let lock = NSLock()
    private var left: CheckedContinuation<Void, Never>?

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      Thread { [self] in
        job.runSynchronously(on: asUnownedTaskExecutor())
        let left = lock.withLock {
          defer { self.left = nil }
          return self.left
        }
        left?.resume()
      }.start()
    }

    /// What follows is on another thread: the task goes on when the job has returned.
    func leave() async { await withCheckedContinuation { left in lock.withLock { self.left = left } } }
  }

  private func note(_ threads: Log<Thread>) { threads.add(.current) }

  private func fill(_ tracks: inout [Int], _ executor: Threads, _ threads: Log<Thread>) async {
    note(threads)
    tracks.append(1)
    await executor.leave()
    tracks.append(2)
    note(threads)
  }

  private func tag(_ tags: inout Set<String>, _ executor: Threads) async throws {
    tags.insert("a")
    await executor.leave()
    throw Failure()
  }

  @Suite("A change in place that ends on another thread")
  struct ChangeAcrossThreadsTests {
    private let playlist = Playlist()
    private let log = Log<String>()

    @Test("tells the property and what is computed of it once, before it and after it")
    func tells() async {
      let (executor, threads) = (Threads(), Log<Thread>())
      let tokens = [
        playlist.observe(\.count, options: [.prior, .old, .new]) { [log] _, change in
          log.add("count \(change.oldValue!)>\(change.newValue.map { "\($0)" } ?? "")")
        },
        playlist.observe(\.tracks, options: [.prior, .old, .new]) { [log] _, change in
          log.add("\(change.oldValue!)>\(change.newValue.map { "\($0)" } ?? "")")
        },
      ]
      await Task.detached(executorPreference: executor) { [playlist] in
        await fill(&playlist.tracks, executor, threads)
      }.value
      #expect(threads.all[0] !== threads.all[1])
      #expect(log.all.filter { !$0.hasPrefix("count") } == ["[]>", "[]>[1, 2]"])
      #expect(log.all.filter { $0.hasPrefix("count") } == ["count 0>", "count 0>2"])
      playlist.tracks = []
      #expect(log.all.suffix(2) == ["[1, 2]>[]", "count 2>0"])
      withExtendedLifetime(tokens) {}
    }

    @Test("tells although the access throws, and leaves nothing behind")
    func throwing() async {
      let token = playlist.onChange(of: \.tags) { [log] old, new in log.add("\(old.sorted())>\(new.sorted())") }
      let size = playlist.onChange(of: \.tags.count) { [log] old, new in log.add("\(old)>\(new)") }
      await #expect(throws: Failure.self) {
        let executor = Threads()
        try await Task.detached(executorPreference: executor) { [playlist] in
          try await tag(&playlist.tags, executor)
        }.value
      }
      #expect(log.all.sorted() == ["0>1", "[]>[\"a\"]"])
      playlist.tags = []
      #expect(log.all.count == 4)
      withExtendedLifetime((token, size)) {}
    }
  }

  @Suite("What is made between the begin of a change and its store")
  struct MadeWithinChangeTests {
    private let document = Document()
    private let panel = Panel()
    private let log = Log<String>()

    /// Calls `make` before the property is set to 1, and keeps what it returns until the end.
    private func before(_ make: @escaping (Document) -> [NSKeyValueObservation]) -> [NSKeyValueObservation] {
      nonisolated(unsafe) let (made, make) = (Made(), make)
      let token = document.observe(\.pages, options: .prior) { document, change in
        if change.isPrior, made.tokens.isEmpty { made.tokens = make(document) }
      }
      document.pages = 1
      token.invalidate()
      return made.tokens
    }

    private final class Made { var tokens: [NSKeyValueObservation] = [] }

    @Test("is told the new value, if it has had the old one: an observer with its initial value")
    func observers() {
      let tokens = before { [log] document in
        [
          document.onChange(of: \.pages, initial: true) { old, new in log.add("\(old)>\(new)") },
          document.onChange(of: \.summary, initial: true) { old, new in log.add("\(old)>\(new)") },
        ]
      }
      // The old value of a property is that of the change, which nobody had asked for when it began.
      #expect(log.all.sorted() == [" (0)> (0)", " (0)> (1)", "0>0", "1>1"])
      withExtendedLifetime(tokens) {}
    }

    @Test("is told the new value: a binding, in one direction and in both")
    func bindings() {
      let (target, other) = (Document(), Document())
      let tokens = before { document in
        [
          document.source(\.pages).bind(to: target, \.pages), other.bindTwoWay(\.pages, with: document, \.pages),
          target.bind(\.title) { "\(document.pages)" },
        ]
      }
      #expect(target.pages == 1 && other.pages == 1 && target.title == "1")
      document.pages = 2
      #expect(target.pages == 2 && other.pages == 2 && target.title == "2")
      for token in tokens { token.invalidate() }
    }

    @Test("is told the new value: sources that are combined, observed with the initial value and without it")
    func combined() {
      let tokens = before { [log] document in
        let both = KeyValueSource<String>.combineLatest(document.source(\.pages), document.source(\.title)) {
          "\($0)\($1)"
        }
        return [
          both.observe(options: [.initial, .new]) { log.add($0.newValue!) },
          both.observe(options: [.new]) { log.add("without \($0.newValue!)") },
        ]
      }
      document.title = "t"
      #expect(log.all.filter { !$0.hasPrefix("without") } == ["0", "1", "1t"])
      #expect(log.all.last { $0.hasPrefix("without") } == "without 1t")
      withExtendedLifetime(tokens) {}
    }

    @Test("is sent the new value: a stream")
    func streams() async {
      let (document, log) = (SharedDocument(), log)
      nonisolated(unsafe) var stream: KeyValueStream<Int>.AsyncIterator?
      let token = document.observe(\.pages, options: .prior) { document, change in
        if change.isPrior { stream = document.values(of: \.pages).makeAsyncIterator() }
      }
      document.pages = 1
      token.invalidate()
      for _ in 1...2 { if let pages = await stream?.next() { log.add("\(pages)") } }
      #expect(log.all == ["0", "1"])
    }
  }

  @Suite("A change that an observer makes within another one")
  struct ChangeWithinChangeTests {
    private let document = SharedDocument()
    private let log = Log<String>()

    @Test("is merged with it: the old value is the one before both", arguments: [false, true])
    func merged(isMapped: Bool) {
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let source = isMapped ? document.source(\.pages).map { $0 } : document.source(\.pages)
      let tokens = [
        source.delivered(on: queue).coalesced().observe(options: [.old, .new]) { [log] change in
          log.add("\(change.oldValue!)>\(change.newValue!)")
        },
        document.source(\.pages).delivered(on: queue).coalesced().observe(options: [.old, .new]) { [log] change in
          log.add("\(change.oldValue!)>\(change.newValue!)")
        },
        document.observe(\.pages) { document, _ in
          if document.pages == 50 { document.pages = 11 }
          if document.pages == 11 { document.pages = 10 }
        },
      ]
      document.pages = 50
      queue.resume()
      queue.sync {}
      queue.sync {}
      #expect(log.all == ["0>10", "0>10"])
      withExtendedLifetime(tokens) {}
    }

    @Test("is merged with what the end of a scope, and bindings, have yet to notify of: the last value is delivered")
    func mergedLater() {
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let source = SharedDocument()
      document.source(\.pages).delivered(on: queue).coalesced().onChange(for: log) { log, old, new in
        log.add("\(old)>\(new)")
      }
      source.source(\.pages).map { $0 / 10 }.removeDuplicates().delivered(on: queue).coalesced().onChange(for: log) {
        log, old, new in
        log.add("tens \(old)>\(new)")
      }
      let tokens = [
        source.source(\.title).bind(to: document, \.title),
        document.observe(\.title) { document, _ in
          document.pages = 1
          document.pages = 2
        },
        source.observe(\.pages) { source, _ in
          if source.pages == 24 { source.pages = 5 }
          if source.pages == 5 { source.pages = 21 }
        },
        source.observe(\.pages) { source, _ in if source.pages == 25 { source.pages = 24 } },
      ]
      withCoalescedChanges {
        document.title = "A"
        document.pages = 2
      }
      source.pages = 25
      queue.resume()
      while log.all.count < 2 { queue.sync {} }
      #expect(Set(log.all) == ["0>2", "tens 0>2"])
      for token in tokens { token.invalidate() }
    }

    @Test("of onChange and removeDuplicates leaves out the value delivered last, in whatever order changes come")
    func leftOut() {
      let tokens = [
        document.onChange(of: \.pages) { [log] old, new in log.add("\(old)>\(new)") },
        document.source(\.pages).removeDuplicates().observe(options: [.old, .new]) { [log] change in
          log.add("source \(change.oldValue!)>\(change.newValue!)")
        },
        document.observe(\.pages) { document, _ in if document.pages == 3 { document.pages = 0 } },
      ]
      document.pages = 7
      document.pages = 3
      document.pages = 0
      #expect(log.all.filter { !$0.hasPrefix("source") } == ["0>7", "7>0"])
      #expect(log.all.filter { $0.hasPrefix("source") } == ["source 0>7", "source 7>0"])
      for token in tokens { token.invalidate() }
    }

    @Test("is merged with it to nothing, with .distinct, if it takes the change back")
    func takenBack() {
      let queue = DispatchQueue(label: "serial")
      document.pages = 10
      queue.suspend()
      let tokens = [
        document.source(\.pages).delivered(on: queue).coalesced().observe(options: [.new, .distinct]) {
          [log] change in
          log.add("\(change.newValue!)")
        },
        document.observe(\.pages) { document, _ in if document.pages > 10 { document.pages = 10 } },
      ]
      document.pages = 50
      queue.resume()
      queue.sync {}
      #expect(log.all == [])
      withExtendedLifetime(tokens) {}
    }

    @Test("is merged with it in the order of what combined and filtered sources have told")
    func operators() {
      let queue = DispatchQueue(label: "serial")
      queue.suspend()
      let both = KeyValueSource<Int>.combineLatest(document.source(\.pages), document.source(\.title)) { pages, _ in
        pages
      }
      let tokens = [both, document.source(\.pages).filter { _ in true }].map { source in
        source.delivered(on: queue).coalesced().observe(options: [.old, .new]) { [log] change in
          log.add("\(change.oldValue!)>\(change.newValue!)")
        }
      }
      let bound = document.observe(\.pages) { document, _ in if document.pages > 10 { document.pages = 10 } }
      document.pages = 50
      queue.resume()
      queue.sync {}
      queue.sync {}
      #expect(log.all == ["0>10", "0>10"])
      withExtendedLifetime((tokens, bound)) {}
    }

    @Test("is told once to an expression, with the value told last as the old one")
    func expression() {
      let document = Document()
      let tokens = [
        document.onChange(of: \.summary) { [log] old, new in log.add("\(old)>\(new)") },
        document.observe(\.pages) { document, _ in if document.pages == 10 { document.pages = 20 } },
      ]
      document.pages = 10
      #expect(log.all == [" (0)> (20)"])
      withExtendedLifetime(tokens) {}
    }
  }

  @KeyValueObservable
  private final class Spied {
    var a = 1
    var b = 1
    var list: [Int] = []
    @NotObserved var spies: [NSKeyValueObservation] = []
    @NotObserved let seen = Log<String>()
    var sum: Int {
      if spies.isEmpty {
        let seen = seen
        spies = [
          onChange(of: \.b, initial: true) { _, new in seen.add("b \(new)") },
          observe(\.b, options: [.initial, .new]) { _, change in seen.add("b \(change.newValue!)") },
          observe(\.list, options: [.collectionChanges]) { _, _ in seen.add("list") },
          onChange(of: \.list) { _, _ in seen.add("list") },
          KeyValueSource<Int>.combineLatest(source(\.b), source(\.list)) { $0 + $1.count }
            .observe(options: [.old, .new]) { _ in seen.add("both") },
        ]
      }
      return a
    }
  }

  @Suite("A registration in a getter")
  struct RegistrationInGetterTests {
    @Test("adds nothing to what the getter's value depends on")
    func addsNothing() {
      let (spied, log) = (Spied(), Log<String>())
      let token = spied.onChange(of: \.sum) { old, new in log.add("\(old)>\(new)") }
      spied.b = 2
      spied.list = [1]
      #expect(log.all == [])
      #expect(spied.seen.all.filter { $0 == "b 2" }.count == 2 && spied.seen.all.filter { $0 == "list" }.count == 2)
      spied.a = 2
      #expect(log.all == ["1>2"])
      withExtendedLifetime(token) {}
    }
  }
#endif
