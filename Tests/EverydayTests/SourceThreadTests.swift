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

    @Test("combineLatest notifies of no value that is older than the one before")
    func neverBackwards() async {
      for _ in 0..<20 {
        let (left, right, steps) = (SharedCounter(), SharedCounter(), Log<[Int]>())
        let both = KeyValueSource.combineLatest(left.source(\.number), right.source(\.number)) { [$0, $1] }
        let token = both.observe(options: [.new]) { change in steps.add(change.newValue!) }
        await onThreads(2) { thread in
          for number in 1...500 { (thread == 0 ? left : right).number = number }
        }
        token.invalidate()
        let all = steps.all
        #expect(all.last == [500, 500])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0[0] <= $1[0] && $0[1] <= $1[1] })
      }
    }

    @Test("combineLatest tells last what is present, and a binding has it, though several threads set one source")
    func onePropertyOfSeveralThreads() async {
      for round in 0..<500 {
        let (counter, other, target, last) = (SharedCounter(), SharedCounter(), SharedCounter(), Last())
        let both = KeyValueSource.combineLatest(counter.source(\.number), other.source(\.number)) { $0 + $1 }
        let token = both.observe(options: [.new]) { change in last.told = change.newValue! }
        both.bind(to: target, \.number)
        await onThreads(2) { thread in
          for number in 1...10 { counter.number = number * 10 * (thread + 1) }
        }
        #expect(last.told == counter.number && target.number == counter.number, "round \(round)")
        token.invalidate()
      }
    }

    @Test("A binding behind a filter takes what passes and nothing else, whichever thread sets the source")
    func valuesThatPass() async {
      for round in 0..<300 {
        let (counter, filtered, mapped) = (SharedCounter(), SharedCounter(), SharedCounter())
        counter.source(\.number).filter { $0 % 2 == 0 }.bind(to: filtered, \.number)
        counter.source(\.number).compactMap { $0 % 2 == 0 ? $0 : nil }.bind(to: mapped, \.number)
        await onThreads(2) { thread in
          for number in 1...60 { counter.number = number * 2 + thread }
        }
        #expect(filtered.number % 2 == 0 && mapped.number % 2 == 0, "round \(round)")
        (counter.number, counter.number) = (200, 201)
        #expect(filtered.number == 200 && mapped.number == 200, "round \(round)")
      }
    }

    @Test("combineLatest has the last values, though another thread sets a source while it is read to observe it")
    func nothingIsMissed() async {
      for isFirst in [true, false] {
        let (counter, other, log) = (SharedCounter(), SharedCounter(), Log<String>())
        let numbers = (isFirst ? [counter, other] : [other, counter]).map { $0.source(\.number) }
        let both = KeyValueSource.combineLatest(numbers[0], numbers[1]) { isFirst ? "\($0) \($1)" : "\($1) \($0)" }
        for (number, options) in [(7, [.initial, .new]), (8, [.old, .new])] as [(Int, NSKeyValueObservingOptions)] {
          counter.setWhenRead(to: number)
          let token = both.observe(options: options) { change in
            log.add("\(change.oldValue ?? "-")>\(change.newValue!)")
          }
          other.number += 1
          token.invalidate()
        }
        #expect(log.all.filter { $0 != "->7 0" } == ["->7 1", "8 1>8 2"])
        #expect(log.all.contains("->7 0"))
      }
    }
  }
#endif
