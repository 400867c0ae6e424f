// Streams while several threads set, iterate, cancel and release.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Testing

  /// A class whose property several threads set.
  @KeyValueObservable
  final class SharedCounter: @unchecked Sendable {
    private let lock = NSLock()
    @NotObserved private var stored = 0
    @NotObserved private var setWhenRead: Int?
    var number: Int {
      get {
        let (value, next) = lock.withLock { (stored, setWhenRead.take()) }
        if let next { onThreadOfItsOwn { self.number = next } }
        return value
      }
      set {
        willChangeValue(for: \.number)
        lock.withLock { stored = newValue }
        didChangeValue(for: \.number)
      }
    }

    init() {}

    /// The next reader gets the present value, and before he does, another thread sets this one.
    func setWhenRead(to number: Int) { lock.withLock { setWhenRead = number } }
  }

  /// Runs a function on a new thread, and returns when it has ended.
  private func onThreadOfItsOwn(_ body: @escaping @Sendable () -> Void) {
    let ended = DispatchSemaphore(value: 0)
    Thread {
      body()
      ended.signal()
    }.start()
    ended.wait()
  }

  @Suite("Streams and threads")
  struct StreamThreadTests {
    @Test("Every set of several threads is an element, in each of two loops")
    func everySet() async {
      let counter = SharedCounter()
      let numbers = counter.changes(of: \.number, options: [])
      let loops = [0, 1].map { _ in numbers.makeAsyncIterator() }.map { iterator in
        nonisolated(unsafe) var iterator = iterator
        return Task {
          for _ in 0..<4000 { _ = await iterator.next() }
        }
      }
      await onThreads(4) { thread in for number in 0..<1000 { counter.number = number } }
      for loop in loops { await loop.value }
    }

    @Test("The initial value comes first while other threads set")
    func initialIsFirst() async {
      let counter = SharedCounter()
      let isDone = Log<Bool>()
      async let setting: Void = onThreads(2) { _ in
        while isDone.all.isEmpty { counter.number += 1 }
      }
      for _ in 0..<200 {
        var changes = counter.changes(of: \.number, options: [.initial, .old, .new]).makeAsyncIterator()
        #expect(await changes.next()?.oldValue == nil)
        // If there is no room for it, the change that came first is dropped.
        let oldest = counter.changes(of: \.number, options: [.initial, .old, .new], buffering: .oldest(1))
        var first = oldest.makeAsyncIterator()
        let change = await first.next()
        #expect(change != nil && change?.oldValue == nil)
      }
      isDone.add(true)
      await setting
    }

    @Test("Loops are begun, left and cancelled while other threads set, and no observation is left")
    func loopsEnd() async {
      let counter = SharedCounter()
      let isDone = Log<Bool>()
      async let setting: Void = onThreads(2) { _ in
        while isDone.all.isEmpty { counter.number = 1 }
      }
      await withTaskGroup(of: Void.self) { group in
        for round in 0..<200 {
          group.addTask {
            let numbers = counter.values(of: \.number, buffering: round % 2 == 0 ? .newest(2) : .unbounded)
            let loop = Task {
              var count = 0
              for await _ in numbers {
                count += 1
                if round % 3 == 0, count == 5 { break }
              }
            }
            if round % 3 != 0 { loop.cancel() }
            await loop.value
          }
        }
      }
      isDone.add(true)
      await setting
      #expect(counter.observationInfo == nil)
    }

    @Test("A loop ends when its object is deallocated on another thread, with each value set before")
    func objectDies() async {
      for _ in 0..<200 {
        var counter: SharedCounter? = SharedCounter()
        let numbers = counter!.values(of: \.number, options: [])
        let loop = Task {
          var received: [Int] = []
          for await number in numbers { received.append(number) }
          return received
        }
        Thread.detachNewThread { [counter = counter.take()] in
          for number in 0..<10 { counter?.number = number }
        }
        #expect(await loop.value == Array(0..<10))
      }
    }
  }

  /// Runs code on several threads, and waits for them.
  func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let group = DispatchGroup()
      for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
          body(index)
          group.leave()
        }
      }
      group.notify(queue: .global()) { done.resume() }
    }
  }
#endif
