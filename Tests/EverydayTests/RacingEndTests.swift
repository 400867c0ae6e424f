// Ends on several threads at once.
#if Macros
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  /// Fewer with the environment variable, for sanitizers.
  private let rounds = ProcessInfo.processInfo.environment["KVO_TEST_ROUNDS"].flatMap { Int($0) } ?? 10_000

  /// Runs functions at the same time, on threads of their own.
  private func together(_ bodies: [@Sendable () -> Void]) {
    DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
  }

  /// Keeps an object until it is taken.
  private final class Cell<Object: AnyObject>: @unchecked Sendable {
    private var object: Object?

    init(_ object: Object) { self.object = object }
    func drop() { object = nil }
  }

  @Suite("Ends on several threads")
  struct RacingEndTests {
    @Test("Object and observer of a classic registration die in either order, exactly once and without a fault")
    func bothDie() {
      let raised = Log<Int>()
      for round in 0..<rounds {
        let (document, panel) = pair(isRemoved: round % 3 == 0)
        together([
          { for code in faults(in: document.drop) { raised.add(code) } },
          { for code in faults(in: panel.drop) { raised.add(code) } },
        ])
      }
      #expect(raised.all.isEmpty)
    }

    /// Returns an object and its observer, to which nobody else refers.
    private func pair(isRemoved: Bool) -> (Cell<SharedDocument>, Cell<ClassicPanel>) {
      let (document, panel) = (SharedDocument(), ClassicPanel())
      document.addObserver(panel, forKeyPath: "title", options: [.new, .endsWithObserver])
      if isRemoved { document.removeObserver(panel, forKeyPath: "title") }
      return (Cell(document), Cell(panel))
    }

    @Test("An observer that dies while changes are made ends its registration")
    func diesDuringChanges() {
      let document = SharedDocument()
      for _ in 0..<rounds / 10 {
        let (observable, other) = (Cell(ClassicPanel()), Cell(ClassicListener()))
        observable.with { document.addObserver($0, forKeyPath: "title", options: [.new, .endsWithObserver]) }
        other.with { document.addObserver($0, forKeyPath: "title", options: [.new, .endsWithObserver]) }
        let log = Log<Int>()
        together([
          { for code in faults(in: { for _ in 1...5 { document.title = "A" } }) { log.add(code) } },
          { observable.drop() }, { other.drop() },
        ])
        #expect(log.all.isEmpty)
        document.title = "B"
        // A registration of another test looks for dead observers, too, and may be ending this one on its thread.
        for _ in 0..<100_000 where document.observationInfo != nil { usleep(10) }
        #expect(document.observationInfo == nil)
      }
    }

    @Test(
      "Tokens of every kind end exactly once, whoever ends them: a token, the receiver, the object, or several at once")
    func everyKind() {
      let (queue, ends) = (DispatchQueue(label: "ends", attributes: .concurrent), Log<Int>())
      var made = 0
      for round in 0..<rounds / 20 {
        let (document, other, receiver) = (Cell(SharedDocument()), Cell(SharedDocument()), Cell(SharedReceiver()))
        let tokens = tokens(document, other, receiver, queue)
        made += tokens.count
        for token in tokens { token.onEnd { _ in ends.add(round) } }
        together([
          { for token in tokens { token.invalidate() } }, { receiver.drop() }, { document.drop() },
          { other.with { $0.title = "\(round)" } },
          { for token in tokens.reversed() { token.invalidateAndWait() } },
        ])
      }
      #expect(ends.all.count == made)
    }

    private func tokens(
      _ document: Cell<SharedDocument>, _ other: Cell<SharedDocument>, _ receiver: Cell<SharedReceiver>,
      _ queue: DispatchQueue
    ) -> [NSKeyValueObservation] {
      var tokens: [NSKeyValueObservation] = []
      document.with { document in
        other.with { other in
          receiver.with { receiver in
            tokens = [
              document.observe(\.title) { _, _ in },
              document.onChange(of: \.title, for: receiver) { _, _, _ in },
              KeyValueSource.merge(document.source(\.title), other.source(\.title)).onChange(for: receiver) { _, _, _ in
              },
              document.source(\.title).delivered(on: queue).onChange(for: receiver) { @Sendable _, _, _ in },
              document.source(\.title).delivered(on: queue).coalesced().onChange { @Sendable _, _ in },
              document.source(\.title, \.pages).onChange { _, _ in },
              document.source(\.title).bind(to: other, \.title), document.bindTwoWay(\.pages, with: other, \.pages),
            ]
          }
        }
      }
      return tokens
    }

    @Test("A controller observes and unobserves on several threads, and nothing is left or told afterwards")
    func controller() {
      let (document, listener) = (SharedDocument(), SharedReceiver())
      for _ in 0..<rounds / 50 {
        let controller = KeyValueObservationController(observer: listener)
        let calls = Log<Int>()
        together([
          { for _ in 1...10 { controller.observe(document, \.title) { _, _, _ in calls.add(1) } } },
          {
            for _ in 1...10 { controller.observe(document, "pages", duplicates: .replace) { _, _, _ in calls.add(1) } }
          },
          { for _ in 1...10 { controller.unobserve(document, \.title) } },
          { for _ in 1...10 { document.title = "A" } },
          { for _ in 1...5 { controller.unobserveAll() } },
        ])
        controller.unobserveAll()
        let count = calls.all.count
        document.title = "B"
        document.pages = 1
        #expect(calls.all.count == count)
        #expect(document.observationInfo == nil)
      }
    }

    @Test("After unobserve has returned, no call begins, also of an observation that was being made")
    func afterUnobserve() {
      let (document, listener) = (SharedDocument(), SharedReceiver())
      for _ in 0..<rounds / 10 {
        let controller = KeyValueObservationController(observer: listener)
        let flags = Flags()
        together([
          { controller.observe(document, \.title, options: .initial) { _, _, _ in flags.called() } },
          {
            controller.unobserve(document, \.title)
            document.title = "A"
          },
        ])
        controller.unobserveAll()
        flags.end()
        document.title = "B"
        #expect(flags.lateCalls == 0)
      }
    }
  }

  private final class Flags: Sendable {
    private let isEnded = Atomic(false)
    private let late = Atomic(0)

    var lateCalls: Int { late.load(ordering: .relaxed) }
    func called() { if isEnded.load(ordering: .relaxed) { late.add(1, ordering: .relaxed) } }
    func end() { isEnded.store(true, ordering: .relaxed) }
  }

  private final class SharedReceiver: Sendable {}

  extension Cell {
    fileprivate func with(_ body: (Object) -> Void) {
      if let object { body(object) }
    }
  }
#endif
