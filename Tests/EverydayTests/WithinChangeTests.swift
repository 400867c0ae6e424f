// What is registered, changed or moved to another thread in the middle of a change.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  private struct Failure: Error {}

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

  private func fill(_ items: inout [Int], _ executor: Threads, _ threads: Log<pthread_t>) async throws {
    threads.add(pthread_self())
    items.append(1)
    await executor.leave()
    items.append(2)
    threads.add(pthread_self())
    throw Failure()
  }

  @Suite("A change in place that ends on another thread")
  struct ChangeAcrossThreadsTests {
    @Test("notifies of the property and of what is computed of it, before and after it, although the access throws")
    func notifies() async {
      let (list, log) = (SharedList(), Log<String>())
      let (executor, threads) = (Threads(), Log<pthread_t>())
      list.observe(\.items.count, options: [.prior, .old, .new], for: log) { log, _, change in
        log.add("count \(change.oldValue!)>\(change.newValue.map { "\($0)" } ?? "")")
      }
      list.observe(\.items, options: [.prior, .old, .new], for: log) { log, _, change in
        log.add("items \(change.oldValue!)>\(change.newValue.map { "\($0)" } ?? "")")
      }
      await #expect(throws: Failure.self) {
        try await Task.detached(executorPreference: executor) { try await fill(&list.items, executor, threads) }.value
      }
      #expect(threads.all[0] != threads.all[1])
      list.items = []
      #expect(log.all(after: "items") == ["[]>", "[]>[1, 2]", "[1, 2]>", "[1, 2]>[]"])
      #expect(log.all(after: "count") == ["0>", "0>2", "2>", "2>0"])
    }
  }

  @Suite("A change that an observer makes within another one")
  struct ChangeWithinChangeTests {
    private let document = SharedDocument()
    private let log = Log<String>()

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
      source.source(\.title).bind(to: document, \.title)
      document.observe(\.title, for: log) { _, document, _ in for pages in [1, 2] { document.pages = pages } }
      source.observe(\.pages, for: log) { _, source, _ in
        if source.pages == 24 { source.pages = 5 }
        if source.pages == 5 { source.pages = 21 }
      }
      source.observe(\.pages, for: log) { _, source, _ in if source.pages == 25 { source.pages = 24 } }
      withCoalescedChanges {
        document.title = "A"
        document.pages = 2
      }
      source.pages = 25
      queue.resume()
      while log.all.count < 2 { queue.sync {} }
      #expect(Set(log.all) == ["0>2", "tens 0>2"])
    }

    @Test("of onChange and removeDuplicates leaves out the value delivered last, in whatever order changes come")
    func leftOut() {
      document.onChange(of: \.pages, for: log) { log, old, new in log.add("property \(old)>\(new)") }
      document.source(\.pages).removeDuplicates().observe(options: [.old, .new], for: log) { log, change in
        log.add("source \(change.oldValue!)>\(change.newValue!)")
      }
      document.observe(\.pages, for: log) { _, document, _ in if document.pages == 3 { document.pages = 0 } }
      for pages in [7, 3, 0] { document.pages = pages }
      #expect(log.all(after: "property") == ["0>7", "7>0"])
      #expect(log.all(after: "source") == ["0>7", "7>0"])
    }
  }
#endif
