// Ends on several threads at once.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private let rounds = 10_000

  /// Runs functions at the same time, on threads of their own.
  private func together(_ bodies: [@Sendable () -> Void]) {
    DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
  }

  /// Keeps an object until it is set to nil.
  private final class Cell<Object: AnyObject>: @unchecked Sendable {
    var object: Object?

    init(_ object: Object) { self.object = object }
  }

  @Suite("Ends on several threads")
  struct RacingEndTests {
    @Test("Object and observer of a classic registration die in either order, exactly once and without a fault")
    func bothDie() {
      let codes = Log<Int>()
      for round in 0..<rounds {
        let (document, panel) = (Cell(SharedDocument()), Cell(ClassicPanel()))
        document.object!.addObserver(panel.object!, forKeyPath: "title", options: [.new, .endsWithObserver])
        if round % 3 == 0 { document.object!.removeObserver(panel.object!, forKeyPath: "title") }
        together([
          { for code in faults(in: { document.object = nil }) { codes.add(code) } },
          { for code in faults(in: { panel.object = nil }) { codes.add(code) } },
        ])
      }
      #expect(codes.all.isEmpty)
    }

    @Test(
      "Tokens of every kind end exactly once, whoever ends them: a token, the receiver, the object, or several at once")
    func everyKind() {
      let (ends, codes) = (Log<Int>(), Log<Int>())
      var made = 0
      for round in 0..<rounds / 20 {
        let (document, other, receiver) = (Cell(SharedDocument()), Cell(SharedDocument()), Cell(SharedListener()))
        let tokens = Self.tokens(document.object!, other.object!, receiver.object!)
        made += tokens.count
        let (panel, listener) = (Cell(ClassicPanel()), Cell(ClassicListener()))
        for observer in [panel.object!, listener.object!] as [any ClassicLogger] {
          other.object!.addObserver(observer, forKeyPath: "title", options: [.new, .endsWithObserver])
        }
        for token in tokens { token.onEnd { _ in ends.add(round) } }
        together([
          { for token in tokens { token.invalidate() } }, { receiver.object = nil }, { document.object = nil },
          { for code in faults(in: { other.object!.title = "\(round)" }) { codes.add(code) } },
          { (panel.object, listener.object) = (nil, nil) },
          { for token in tokens.reversed() { token.invalidateAndWait() } },
        ])
      }
      #expect(ends.all.count == made && codes.all.isEmpty)
    }

    private static func tokens(
      _ document: SharedDocument, _ other: SharedDocument, _ receiver: SharedListener
    ) -> [NSKeyValueObservation] {
      let queue = DispatchQueue(label: "ends", attributes: .concurrent)
      let title = document.source(\.title)
      return [
        document.observe(\.title) { _, _ in }, document.onChange(of: \.title, for: receiver) { _, _, _ in },
        KeyValueSource.merge(title, other.source(\.title)).onChange(for: receiver) { _, _, _ in },
        title.delivered(on: queue).onChange(for: receiver) { @Sendable _, _, _ in },
        title.delivered(on: queue).coalesced().onChange { @Sendable _, _ in },
        document.source(\.title, \.pages).onChange { _, _ in }, title.bind(to: other, \.title),
        document.bindTwoWay(\.pages, with: other, \.pages),
      ]
    }

    @Test("A receiver's observations are made and ended on several threads, and nothing is left")
    func allOfReceiver() {
      let (document, listener) = (SharedDocument(), SharedListener())
      for _ in 0..<rounds / 50 {
        let calls = Log<Int>()
        together([
          { for _ in 1...10 { document.observe(\.title, for: listener) { _, _, _ in calls.add(1) } } },
          { for _ in 1...10 { document.source("pages").observe(for: listener) { _, _ in calls.add(1) } } },
          { for _ in 1...10 { document.stopObserving(\.title, for: listener) } },
          { for _ in 1...10 { document.title = "A" } },
          { for _ in 1...5 { stopObservingAll(for: listener) } },
        ])
        stopObservingAll(for: listener)
        let count = calls.all.count
        document.title = "B"
        document.pages = 1
        #expect(calls.all.count == count)
        #expect(document.observationInfo == nil)
      }
    }
  }
#endif
