// Properties to which Swift has no key paths, of noncopyable types or of type `Self`: the macro leaves them as they are.
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

  /// Swift has no key path to a property of type `Self` in a class that is not final.
  @KeyValueObservable
  private class Node {
    var number = 0
    var me: Self { self }
    var maybe: Self? { number > 0 ? self : nil }
  }

  @Suite("Properties without key paths")
  struct UnobservableTests {
    @Test func `A class may have noncopyable properties, with and without @NotObserved, and the others notify`() {
      let (turnstile, guarding) = (Turnstile(), Guarding<Int>())
      let names = changes(of: turnstile, \.name) {
        turnstile.name = "door"
        turnstile.lock.withLock { $0 = 2 }
        turnstile.spare = Ticket(number: 9)
      }
      #expect(names == ["gate -> door"])
      #expect(turnstile.count == 2)
      #expect(changes(of: guarding, \.value) { guarding.value = 1 } == ["nil -> Optional(1)"])
    }

    @Test func `Computed noncopyable properties, and those of type Self, are not observable, and the others notify`() {
      let (dispenser, lender, node) = (Dispenser(), Lender(), Node())
      let next = changes(of: dispenser, \.next) { dispenser.next = dispenser.ticket.number + dispenser.lent.number }
      #expect(next == ["1 -> 6"])
      #expect(changes(of: lender, \.name) { lender.name = "\(lender.lent.number)" } == [" -> 5"])
      let numbers = changes(of: node, \.number) {
        node.me.number = 1
        node.maybe?.number = 2
      }
      #expect(numbers == ["0 -> 1", "1 -> 2"])
    }

    @Test func `Copyable ones beside them have values by key, and can be announced by key path`() {
      let turnstile = Turnstile()
      #expect(turnstile.value(forKey: "place") as? String == "north")
      let announced = changes(of: turnstile, \.scratch, values: false) {
        turnstile.setValue(5, forKey: "scratch")
        turnstile.willChangeValue(for: \.scratch)
        turnstile.didChangeValue(for: \.scratch)
      }
      #expect(announced.count == 2)
      #expect(turnstile.scratch == 5)
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
