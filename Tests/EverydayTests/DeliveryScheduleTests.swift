// When a delivery is scheduled, and what it delivers then: with an executor whose jobs are run by hand.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A scheduled delivery")
  struct DeliveryScheduleTests {
    let document = SharedDocument()
    let log = Log<Int>()
    let executor = StepExecutor()

    private func observe(merging merges: Bool) -> NSKeyValueObservation {
      let source = document.source(\.pages).delivered(on: executor)
      return (merges ? source.coalesced() : source).observe(options: .new) { [log] change in
        log.add(change.newValue!)
      }
    }

    @Test("delivers all that waits, before what comes after it has its turn")
    func deliversAll() {
      let token = observe(merging: false)
      for pages in 1...3 { document.pages = pages }
      executor.run(atMost: 1)
      #expect(log.all == [1, 2, 3])
      token.invalidate()
    }

    @Test("goes on waiting while the observation is paused, and comes when it is resumed", arguments: [false, true])
    func paused(merges: Bool) {
      let token = observe(merging: merges)
      document.pages = 1
      token.pause()
      executor.run()
      #expect(log.all.isEmpty)
      token.resume()
      executor.run()
      #expect(log.all == [1])
      document.pages = 2
      executor.run()
      #expect(log.all == [1, 2])
      token.invalidate()
    }

    @Test("is in order after a pause")
    func inOrder() {
      let token = observe(merging: false)
      for pages in 1...3 { document.pages = pages }
      token.pause()
      executor.run()
      token.resume()
      document.pages = 4
      executor.run()
      #expect(log.all == [1, 2, 3, 4])
      token.invalidate()
    }

    @Test(
      "leaves the executor alone when nothing is left to deliver, and while it is paused", arguments: [false, true])
    func comesToRest(merges: Bool) {
      let token = observe(merging: merges)
      token.pause()
      token.resume()
      #expect(executor.run() < 5)
      document.pages = 1
      #expect(executor.run() < 5)
      document.pages = 2
      token.pause()
      #expect(executor.run() < 5)
      token.resume()
      #expect(executor.run() < 5)
      #expect(log.all == [1, 2])
      token.invalidate()
    }
  }

  /// A task executor whose jobs are run by hand.
  final class StepExecutor: TaskExecutor, @unchecked Sendable {
    private let lock = NSLock()
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      lock.withLock { jobs.append(job) }
    }

    /// Runs the jobs that wait, and those that they make, but not more than a number, and returns how many these were.
    @discardableResult
    func run(atMost most: Int = 20) -> Int {
      let done = Log<Bool>()
      elsewhere {
        while done.all.count < most, let job = self.next() {
          job.runSynchronously(on: self.asUnownedTaskExecutor())
          done.add(true)
        }
      }
      return done.all.count
    }

    private func next() -> UnownedJob? { lock.withLock { jobs.isEmpty ? nil : jobs.removeFirst() } }
  }
#endif
