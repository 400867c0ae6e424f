// Sources while several threads set what they are made of.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  @Suite("Sources and threads")
  struct SourceThreadTests {
    /// What a handler was told last.
    final class Last: @unchecked Sendable {
      private let lock = NSLock()  // not a Mutex, which ThreadSanitizer does not know
      private var value = -1
      var told: Int {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
      }
    }

    @Test("combineLatest tells last what is made of the last values, though each source is set on a thread of its own")
    func lastIsLast() async {
      for round in 0..<1500 {
        let (left, right, last) = (SharedCounter(), SharedCounter(), Last())
        let both = KeyValueSource.combineLatest(left.source(\.number), right.source(\.number)) { $0 * 100 + $1 }
        let token = both.observe(options: [.new]) { change in last.told = change.newValue! }
        let ready = Atomic(0)
        await onThreads(2) { thread in
          ready.add(1, ordering: .relaxed)
          while ready.load(ordering: .relaxed) < 2 {}
          for number in 1...3 { (thread == 0 ? left : right).number = number }
        }
        #expect(last.told == 303, "round \(round)")
        token.invalidate()
      }
    }

    @Test("combineLatest misses no change that is made while it is observed")
    func nothingIsMissed() async {
      for round in 0..<1500 {
        let (left, right, last) = (SharedCounter(), SharedCounter(), Last())
        let ready = Atomic(0)
        let tokens = Log<NSKeyValueObservation>()
        await onThreads(2) { thread in
          ready.add(1, ordering: .relaxed)
          while ready.load(ordering: .relaxed) < 2 {}
          if thread == 0 {
            left.number = 7
            return
          }
          let both = KeyValueSource.combineLatest(left.source(\.number), right.source(\.number)) { $0 * 100 + $1 }
          tokens.add(both.observe(options: [.initial, .new]) { change in last.told = change.newValue! })
        }
        #expect(last.told == 700, "round \(round)")
        right.number = 1
        #expect(last.told == 701, "round \(round)")
        for token in tokens.all { token.invalidate() }
      }
    }
  }
#endif
