// Properties of noncopyable types: the macro does not change them.
#if Macros
  import KeyValueObserving
  import Synchronization
  import Testing

  private struct Ticket: ~Copyable {
    let number: Int
  }

  @KeyValueObservable
  private final class Turnstile {
    let lock = Mutex(0)
    let passed: Atomic<Int> = Atomic(0)
    let ticket = Ticket(number: 7)
    @NotObserved var spare = Ticket(number: 8)
    @NotObserved let kept = Mutex([1])
    let place = "north"
    @NotObserved var scratch = 1
    var name = "gate"

    var count: Int { lock.withLock { $0 } }
  }

  @KeyValueObservable
  private class Guarding<Value: Sendable> {
    let lock: Mutex<Value?> = Mutex(nil)
    var value: Value?
  }

  /// Computed properties whose values are returned, or lent by an accessor that yields them.
  @KeyValueObservable
  private class Dispenser {
    var next = 1
    private let spare = Ticket(number: 5)
    var ticket: Ticket { Ticket(number: next) }
    var lent: Ticket { _read { yield spare } }
    var maybe: Ticket? { nil }
  }

  @KeyValueObservable
  private final class Lender {
    var name = ""
    private let spare = Ticket(number: 5)
    var lent: Ticket { _read { yield spare } }
  }

  @Suite("Noncopyable properties")
  struct NoncopyableTests {
    @Test func `A class may have noncopyable properties, with and without @NotObserved, and the others notify`() {
      let turnstile = Turnstile()
      nonisolated(unsafe) var delivered: [String] = []
      let token = turnstile.observe(\.name, options: [.new]) { delivered.append($1.newValue!) }
      turnstile.name = "door"
      turnstile.lock.withLock { $0 = 2 }
      turnstile.spare = Ticket(number: 9)
      #expect(delivered == ["door"])
      #expect(turnstile.count == 2)
      token.invalidate()
      let guarding = Guarding<Int>()
      let other = guarding.observe(\.value) { _, _ in delivered.append("value") }
      guarding.value = 1
      #expect(delivered == ["door", "value"])
      other.invalidate()
    }

    @Test func `Computed ones are not observable, and the others notify`() {
      let (dispenser, lender) = (Dispenser(), Lender())
      nonisolated(unsafe) var delivered: [String] = []
      let tokens = [
        dispenser.observe(\.next, options: [.new]) { delivered.append("\($1.newValue!)") },
        lender.observe(\.name, options: [.new]) { delivered.append($1.newValue!) },
      ]
      dispenser.next = dispenser.ticket.number + dispenser.lent.number
      lender.name = "\(lender.lent.number)"
      #expect(delivered == ["6", "5"])
      for token in tokens { token.invalidate() }
    }

    @Test func `Copyable ones have values by key, and can be announced by key path`() {
      let turnstile = Turnstile()
      #expect(turnstile.value(forKey: "place") as? String == "north")
      nonisolated(unsafe) var delivered = 0
      let token = turnstile.observe(\.scratch) { _, _ in delivered += 1 }
      turnstile.setValue(5, forKey: "scratch")
      turnstile.willChangeValue(for: \.scratch)
      turnstile.didChangeValue(for: \.scratch)
      #expect(turnstile.scratch == 5)
      #expect(delivered == 2)
      token.invalidate()
    }

    @Test func `Noncopyable ones are not keys`() {
      var codes: [Int] = []
      KeyValueFault.withHandler {
        codes.append($0.code)
        return .ignore
      } in: {
        #expect(Turnstile().value(forKey: "lock") == nil)
      }
      #expect(codes == [9])
    }
  }
#endif
