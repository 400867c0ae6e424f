// Bindings whose sides several threads set.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  @Suite("A binding and threads")
  struct BindingThreadTests {
    @Test("has the last value, though a second thread sets the source while the first one sets the target")
    func secondWithinFirst() {
      let (one, other) = (SharedDocument(), SharedDocument())
      one.source(\.pages).bind(to: other, \.pages, initially: .wait)
      nonisolated(unsafe) var isFirst = true
      let token = other.observe(\.pages, options: .prior) { other, change in
        guard change.isPrior, isFirst else { return }
        isFirst = false
        elsewhere { one.pages = 9 }
      }
      one.pages = 5
      #expect(one.pages == 9 && other.pages == 9)
      token.invalidate()
    }

    @Test("has the last value, though the first thread sets the source while another one sets the target")
    func firstWithinOther() {
      let (one, other) = (SharedDocument(), SharedDocument())
      one.source(\.pages).bind(to: other, \.pages, initially: .wait)
      one.pages = 1
      elsewhere { one.pages = 2 }
      #expect(other.pages == 2)
      let (isWithin, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      nonisolated(unsafe) var isFirst = true
      let token = other.observe(\.pages, options: .prior) { _, change in
        guard change.isPrior, isFirst else { return }
        isFirst = false
        isWithin.signal()
        mayGoOn.wait()
      }
      let ended = onThread { one.pages = 5 }
      isWithin.wait()
      one.pages = 9
      mayGoOn.signal()
      ended.wait()
      #expect(one.pages == 9 && other.pages == 9)
      token.invalidate()
    }

    @Test("gives its target the last value of a source that several threads set, and of two, each set by one thread")
    func threadsOfSource() {
      for round in 0..<100 {
        let (one, other) = (SharedCounter(), SharedCounter())
        one.source(\.number).bind(to: other, \.number, initially: round % 2 == 0 ? .set : .wait)
        one.number = -1
        #expect(other.number == -1)
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
          for i in 0..<20 { one.number = thread * 1000 + i }
        }
        #expect(other.number == one.number)
      }
      for _ in 0..<50 {
        let (one, other, target) = (SharedCounter(), SharedCounter(), SharedCounter())
        let sum = KeyValueSource.combineLatest(one.source(\.number), other.source(\.number)) { $0 + $1 }
        sum.bind(to: target, \.number)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          for value in 1...200 { (thread == 0 ? one : other).number = value }
        }
        #expect(target.number == 400)
      }
    }

    @Test("in both directions settles, without a fault, though several threads set both sides")
    func threadsOfBothSides() {
      let (one, other, codes) = (SharedCounter(), SharedCounter(), Log<Int>())
      one.bindTwoWay(\.number, with: other, \.number)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        let side = thread % 2 == 0 ? one : other
        for code in faults(in: { for i in 0..<500 { side.number = thread * 1000 + i } }) { codes.add(code) }
      }
      #expect(codes.all == [])
      #expect(one.number == other.number)
    }
  }

  @Suite("The rounds of a binding that several threads use")
  struct BindingRoundsOfThreadsTests {
    @Test("end without a fault, though two threads exchange the sides' values in each round", arguments: [false, true])
    func inLockstep(isOfTwoBindings: Bool) {
      for _ in 0..<100 {
        let (pace, codes) = (Pace(), Log<Int>())
        let (one, other) = (Hooked { _ in pace.meet() }, Hooked { _ in pace.meet() })
        if isOfTwoBindings {
          one.source(\.value).bind(to: other, \.value)
          other.source(\.value).bind(to: one, \.value)
        } else {
          one.bindTwoWay(\.value, with: other, \.value)
        }
        let ends = [(one, 1), (other, 2)].map { side, value in
          onThread {
            pace.begin()
            for code in faults(in: { side.value = value }) { codes.add(code) }
          }
        }
        for end in ends { end.wait() }
        #expect(codes.all == [])
        #expect(one.value == other.value)
      }
    }

    @Test("are counted from the last change of another thread, so that the target gets the last value")
    func othersGoOn() {
      let (source, main) = (SharedDocument(), pthread_self())
      nonisolated(unsafe) var calls = 0
      // The thread that settles is about to set a value that is no longer the source's, more often than KVO_MAX_ROUNDS permits.
      let target = Hooked { isBefore in
        guard isBefore, pthread_equal(pthread_self(), main) != 0 else { return }
        calls += 1
        let pages = calls
        if calls <= 1500 { elsewhere { source.pages = pages } }
      }
      let codes = faults {
        source.source(\.pages).bind(to: target, \.value, initially: .wait)
        source.pages = -1
      }
      #expect(codes == [])
      #expect(calls == 1501)
      #expect(source.pages == 1500 && target.value == 1500)
    }

    @Test("end while another thread goes on: it gives the other side the last value", arguments: [false, true])
    func handedOver(isTwoWay: Bool) {
      let (one, other, codes, isOver) = (SharedCounter(), SharedCounter(), Log<Int>(), Log<Bool>())
      if isTwoWay {
        one.bindTwoWay(\.number, with: other, \.number)
      } else {
        one.source(\.number).bind(to: other, \.number)
      }
      let main = pthread_self()
      let token = other.observe(\.number) { _, _ in
        if pthread_equal(pthread_self(), main) != 0 { usleep(20) }
      }
      let ended = onThread {
        for code in faults(in: { while isOver.all.isEmpty { one.number += 1 } }) { codes.add(code) }
      }
      for _ in 0..<3 { for code in faults(in: { one.number = 0 }) { codes.add(code) } }
      isOver.add(true)
      ended.wait()
      #expect(codes.all == [])
      #expect(one.number == other.number)
      token.invalidate()
    }
  }

  /// Lets two threads arrive together, if the second one does so soon.
  private final class Pace: Sendable {
    private let begun = Atomic<Int>(0)
    private let arrivals = Atomic<Int>(0)

    /// Returns when two threads have called it.
    func begin() {
      begun.add(1, ordering: .sequentiallyConsistent)
      while begun.load(ordering: .sequentiallyConsistent) < 2 { sched_yield() }
    }

    func meet() {
      let own = arrivals.add(1, ordering: .sequentiallyConsistent).newValue
      let end = DispatchTime.now() + .microseconds(100)
      while own % 2 == 1, arrivals.load(ordering: .sequentiallyConsistent) == own, DispatchTime.now() < end {}
    }
  }

  /// Calls a function before and after it stores a value that several threads set.
  @KeyValueObservable
  private final class Hooked: @unchecked Sendable {
    @NotObserved private let lock = NSLock()
    @NotObserved private var stored = 0
    @NotObserved private let hook: @Sendable (_ isBefore: Bool) -> Void
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        hook(true)
        lock.withLock { stored = newValue }
        hook(false)
        didChangeValue(for: \.value)
      }
    }

    init(_ hook: @escaping @Sendable (_ isBefore: Bool) -> Void) { self.hook = hook }
  }
#endif
