// Key paths whose subscripts have arguments with a `hash(into:)` and an `==` of the program.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving
  import Observation
  import Testing

  /// An argument whose functions wait for another thread, as a lock of the program has them do.
  private final class Index: Hashable, @unchecked Sendable {
    let number: Int
    let isWaiting: Bool
    static nonisolated(unsafe) var otherThread: @Sendable () -> Void = {}
    static let missed = Count()

    init(_ number: Int, waits: Bool = false) { (self.number, isWaiting) = (number, waits) }

    static func == (first: Index, second: Index) -> Bool {
      if first.isWaiting || second.isWaiting { waitForOther() }
      return first.number == second.number
    }

    func hash(into hasher: inout Hasher) {
      if isWaiting { Self.waitForOther() }
      hasher.combine(number)
    }

    private static func waitForOther() {
      guard missed.value == 0 else { return }
      let (done, body) = (DispatchSemaphore(value: 0), otherThread)
      Thread.detachNewThread {
        body()
        done.signal()
      }
      if done.wait(timeout: .now() + 5) == .timedOut { missed.add() }
    }
  }

  @KeyValueObservable
  private final class Table: @unchecked Sendable {
    var rows = [0, 1, 2]
    subscript(index: Index) -> Int { rows[index.number] }
    init() {}
  }

  @Suite("The index of a key path", .serialized)
  struct KeyPathIndexTests {
    @Test func `An index may wait in its functions for another thread that observes another index`() {
      let (table, log, tracked) = (Table(), Log(), Count())
      @Sendable func track(_ index: Index) {
        withObservationTracking {
          _ = table.observed[dynamicMember: \.[index]]
        } onChange: {
          if index.isWaiting { tracked.add() }
        }
      }
      Index.otherThread = {
        table.observe(\.[Index(2)]) { _, _ in }.invalidate()
        track(Index(2))
      }
      for _ in 0..<2 {
        track(Index(1, waits: true))
        let token = table.log(\.[Index(1, waits: true)], [.new], to: log)
        table.rows[1] += 1
        token.invalidate()
      }
      #expect(log.lines == ["->2", "->3"] && tracked.value == 2 && Index.missed.value == 0)
    }
  }
#endif
