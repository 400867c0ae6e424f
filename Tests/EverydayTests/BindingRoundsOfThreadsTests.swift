// The rounds of bindings whose sides several threads set.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  @Suite("The rounds of a binding that several threads use")
  struct BindingRoundsOfThreadsTests {
    @Test("end without a fault, though two threads exchange the sides' values in each round", arguments: [false, true])
    func inLockstep(isOfTwoBindings: Bool) {
      for _ in 0..<100 {
        let pace = Pace()
        let (one, other) = (Paced(pace), Paced(pace))
        let codes = Log<Int>()
        if isOfTwoBindings {
          one.source(\.value).bind(to: other, \.value)
          other.source(\.value).bind(to: one, \.value)
        } else {
          one.bindTwoWay(\.value, with: other, \.value)
        }
        let ends = DispatchGroup()
        for (side, value) in [(one, 1), (other, 2)] {
          ends.enter()
          Thread {
            pace.begin()
            for code in faults(in: { side.value = value }) { codes.add(code) }
            ends.leave()
          }.start()
        }
        ends.wait()
        #expect(codes.all == [])
        #expect(one.value == other.value)
      }
    }

    @Test("are counted from the last change of another thread, so that the target gets the last value")
    func othersGoOn() {
      let (source, target) = (SharedDocument(), Interrupted())
      var calls = 0
      // The thread that settles is about to set a value that is no longer the source's, more often than KVO_MAX_ROUNDS permits.
      target.willStore = {
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
      target.willStore = {}
    }

    @Test("end while another thread goes on: it gives the other side the last value", arguments: [false, true])
    func handedOver(isTwoWay: Bool) {
      let (one, other) = (Locked(), Locked())
      let codes = Log<Int>()
      if isTwoWay {
        one.bindTwoWay(\.value, with: other, \.value)
      } else {
        one.source(\.value).bind(to: other, \.value)
      }
      let main = pthread_self()
      let token = other.observe(\.value) { _, _ in
        if pthread_equal(pthread_self(), main) != 0 { usleep(20) }
      }
      let isOver = Flag()
      let ends = DispatchGroup()
      ends.enter()
      Thread {
        for code in faults(in: { while !isOver.isSet { one.value += 1 } }) { codes.add(code) }
        ends.leave()
      }.start()
      for _ in 0..<3 { for code in faults(in: { one.value = 0 }) { codes.add(code) } }
      isOver.set()
      ends.wait()
      #expect(codes.all == [])
      #expect(one.value == other.value)
      token.invalidate()
    }
  }

  private final class Flag: Sendable {
    private let stored = Atomic<Bool>(false)
    var isSet: Bool { stored.load(ordering: .sequentiallyConsistent) }

    func set() { stored.store(true, ordering: .sequentiallyConsistent) }
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

  /// Is set by two threads at the same time.
  @KeyValueObservable
  private final class Paced: @unchecked Sendable {
    @NotObserved private let lock = NSLock()
    @NotObserved private var stored = 0
    @NotObserved private let pace: Pace
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        pace.meet()
        lock.withLock { stored = newValue }
        pace.meet()
        didChangeValue(for: \.value)
      }
    }

    init(_ pace: Pace) { self.pace = pace }
  }

  /// Calls a function of the thread that has made it before it stores a value there.
  @KeyValueObservable
  private final class Interrupted: @unchecked Sendable {
    @NotObserved private let lock = NSLock()
    @NotObserved private var stored = 0
    @NotObserved private let thread = Thread.current
    @NotObserved var willStore: () -> Void = {}
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        if Thread.current === thread { willStore() }
        lock.withLock { stored = newValue }
        didChangeValue(for: \.value)
      }
    }

    init() {}
  }
#endif
