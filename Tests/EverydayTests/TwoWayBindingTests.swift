// Two-way bindings: both directions, corrections and conversions, and the end.
#if Macros
  import KeyValueObserving
  import Testing

  @Suite("A two-way binding")
  struct TwoWayBindingTests {
    @Test("first takes the value on the right, on the left with .fromLeft, none with .wait; then it follows both sides")
    func bothWays() {
      let rows: [(KeyValueBinding.TwoWayInitially, [String])] = [
        (.set, ["right", "right"]), (.fromLeft, ["left", "left"]), (.wait, ["left", "right"]),
      ]
      for (initially, titles) in rows {
        let (one, other) = (Document(), Document())
        one.title = "left"
        other.title = "right"
        one.bindTwoWay(\.title, with: other, \.title, initially: initially)
        #expect([one.title, other.title] == titles)
        one.title = "A"
        #expect(other.title == "A")
        other.title = "B"
        #expect(one.title == "B")
      }
    }

    @Test("follows values of any size, also NaN")
    func sizes() {
      let (one, other) = (Values(), Values())
      one.bindTwoWay(\.byte, with: other, \.byte)
      one.bindTwoWay(\.flagged, with: other, \.flagged)
      one.bindTwoWay(\.degrees, with: other, \.degrees)
      one.byte = 7
      other.flagged = .init(number: 1, flag: true)
      let codes = faults { for degrees in [Double.nan, 2] { one.degrees = degrees } }
      #expect(codes == [])
      #expect(other.byte == 7 && one.flagged == .init(number: 1, flag: true) && other.degrees == 2)
    }

    @Test("on an actor gives the last set, though an earlier one of another thread is pending")
    @MainActor
    func pendingDelivery() async {
      for isObserved in [false, true] {
        let (model, screen) = (SharedDocument(), Screen(SharedDocument()))
        var seen: [Int] = []
        if isObserved { screen.onChange(of: \.count, for: screen) { _, _, new in seen.append(new) } }
        screen.bindTwoWay(\.count, with: model, \.pages)
        elsewhere { model.pages = 3 }
        screen.count = 8
        #expect([screen.count, model.pages] == [8, 8])
        await Task.yield()
        #expect([screen.count, model.pages] == [8, 8] && seen == (isObserved ? [8] : []))
      }
    }

    @Test("on an actor sets the present value once after changes that were made elsewhere")
    @MainActor
    func madeElsewhere() async {
      let (model, panel, set) = (SharedDocument(), Panel(), Log<String>())
      panel.bindTwoWay(\.caption, with: model, \.title) {
        MainActor.assertIsolated()
        set.add(panel.caption)
      }
      elsewhere { for title in ["A", "B", "C"] { model.title = title } }
      #expect(panel.caption == "")
      while panel.caption != "C" { await Task.yield() }
      #expect(set.all == ["C"])
    }

    @Test("converts in both directions, also on other threads and in a chain; rounding does not flow back")
    func converts() {
      let slider = Document()
      nonisolated(unsafe) let (celsius, kelvin) = (Values(), Values())
      func values() -> [Double] { [Double(slider.pages), celsius.degrees, kelvin.degrees] }
      let codes = faults {
        slider.bindTwoWay(\.pages, with: celsius, \.degrees, forward: { Double($0) }, backward: { Int($0.rounded()) })
        celsius.bindTwoWay(\.degrees, with: kelvin, \.degrees, forward: { $0 + 273 }, backward: { $0 - 273 })
        celsius.degrees = 10.4
        #expect(values() == [10, 10.4, 283.4])
        elsewhere { celsius.degrees = 20.25 }
        #expect(values() == [20, 20.25, 293.25])
        elsewhere { kelvin.degrees = 303.25 }
        #expect(values() == [30, 30.25, 303.25])
        slider.pages = 40
        #expect(values() == [40, 40, 313])
      }
      #expect(codes == [])
    }

    @Test("whose conversions differ sets the other side once, without a fault")
    func conversionsNeverAgree() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.bindTwoWay(\.pages, with: other, \.pages, forward: { $0 + 1 }, backward: { $0 })
        one.pages = 4
        #expect([one.pages, other.pages] == [4, 5])
        other.pages = 9
        #expect([one.pages, other.pages] == [9, 9])
      }
      #expect(codes == [])
    }

    @Test("corrects the other side until both setters agree, also in a chain, and notifies its observers once")
    func corrections() {
      let (bounded, even) = (Corrected { min($0, 10) }, Corrected { $0 + $0 % 2 })
      let (model, log) = (Document(), Log<Int>())
      let codes = faults {
        bounded.bindTwoWay(\.value, with: model, \.pages)
        model.onChange(of: \.pages, for: log) { log, _, new in log.add(new) }
        model.pages = 99
        #expect([bounded.value, model.pages] == [10, 10] && log.all == [10])
        model.bindTwoWay(\.pages, with: even, \.value)
        model.pages = 51
        #expect([bounded.value, model.pages, even.value] == [10, 10, 10])
      }
      #expect(codes == [])
    }

    @Test("whose setters never agree is a fault after KVO_MAX_ROUNDS, once a change; both sides keep their last values")
    func neverAgrees() {
      let (bounded, model) = (Corrected { min($0, 40) }, Corrected { _ in 50 })
      var conversions = 0
      func convert(_ value: Int) -> Int {
        conversions += 1
        return value
      }
      let codes = faults {
        bounded.bindTwoWay(
          \.value, with: model, \.value, initially: .wait, forward: { convert($0) }, backward: { $0 })
        model.value = 60
      }
      #expect(codes == [24])
      #expect((1000...1005).contains(conversions), "\(conversions)")
      #expect(faults { model.value = 70 } == [24])
      #expect([bounded.value, model.value] == [40, 50])
    }

    @Test("takes what applied sets, as a binding in one direction does, on an actor and elsewhere")
    @MainActor
    func setInApplied() {
      typealias Bind = (Document, Document, @escaping () -> Void) -> Void
      func check(raisesRight: Bool = false, _ bind: Bind) {
        let (one, other) = (Document(), Document())
        let raised = raisesRight ? other : one
        bind(one, other) { if raised.pages < 4 { raised.pages += 1 } }
        one.pages = 1
        #expect([one.pages, other.pages] == [4, 4])
      }
      check { one, other, raise in one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) { raise() } }
      check { one, other, raise in one.source(\.pages).bind(to: other, \.pages, initially: .wait) { raise() } }
      for raisesRight in [false, true] { check(raisesRight: raisesRight, Self.bindTwoWay) }
    }

    private nonisolated static func bindTwoWay(_ one: Document, _ other: Document, _ raise: @escaping () -> Void) {
      one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait, applied: raise)
    }

    @Test("takes in a scope the side that has changed, and of two changed ones the left")
    func inScopes() {
      let ways: [KeyValueBinding.TwoWayInitially] = [.set, .fromLeft, .wait]
      for (isLeftFirst, initially) in [true, false].flatMap({ first in ways.map { (first, $0) } }) {
        let (left, right) = (Document(), Document())
        right.pages = 12
        left.bindTwoWay(\.pages, with: right, \.pages, initially: initially)
        left.pages = 12
        func set(_ leftPages: Int, _ rightPages: Int) -> [Int] {
          withCoalescedChanges {
            if isLeftFirst { left.pages = leftPages }
            right.pages = rightPages
            if !isLeftFirst { left.pages = leftPages }
          }
          return [left.pages, right.pages]
        }
        #expect(set(12, 9) == [9, 9])
        #expect(set(5, 9) == [5, 5])
        #expect(set(6, 7) == [6, 6])
      }
    }

    @Test("sets a collection as a whole on an actor, in both directions, and of a source that an operator makes")
    @MainActor
    func collectionOnActor() {
      let (one, other, third) = (Document(), Document(), Document())
      one.bindTwoWay(\.tags, with: other, \.tags)
      one.source(\.tags).map { $0 }.bind(to: third, \.tags)
      one.mutableArrayValue(for: \.tags).append("A")
      #expect([other.tags, third.tags] == [["A"], ["A"]])
      other.mutableArrayValue(for: \.tags).insert("B", at: 0)
      other.mutableArrayValue(for: \.tags).append("C")
      #expect([one.tags, other.tags, third.tags] == [["B", "A", "C"], ["B", "A", "C"], ["B", "A", "C"]])
      other.mutableArrayValue(for: \.tags).remove(at: 1)
      #expect([one.tags, other.tags, third.tags] == [["B", "C"], ["B", "C"], ["B", "C"]])
    }

    @Test("ends in both directions once: by its token, unbind or stopObserving on either side, or the death of a side")
    func ends() {
      typealias Side = Document?
      typealias Reason = NSKeyValueObservation.EndReason
      typealias End = (NSKeyValueObservation, inout Side, inout Side) -> Void
      let ways: [(reason: Reason, end: End)] = [
        (.invalidated, { token, _, _ in token.invalidate() }),
        (.invalidated, { _, one, _ in one!.unbind(\.title) }),
        (.invalidated, { _, _, other in other!.unbind(\.title) }),
        (.invalidated, { _, one, other in one!.stopObserving(for: other!) }),
        (.invalidated, { _, one, other in other!.stopObserving(for: one!) }),
        (.receiverDied, { _, one, _ in one = nil }), (.objectDied, { _, _, other in other = nil }),
      ]
      for (number, way) in ways.enumerated() {
        var (one, other): (Side, Side) = (Document(), Document())
        let reasons = Log<Reason>()
        let token = one!.bindTwoWay(\.title, with: other!, \.title).onEnd(reasons.add)
        way.end(token, &one, &other)
        one?.title = "A"
        other?.title = "B"
        token.invalidate()
        #expect(!token.isActive && reasons.all == [way.reason], "way \(number)")
        #expect(one?.title ?? "A" == "A" && other?.title ?? "B" == "B", "way \(number)")
      }
    }

    @Test("between two properties of one object ends by unbind of either property, and an exclusive one replaces it")
    func endsOfOneObject() {
      let ends: [(Pair) -> Void] = [
        { $0.unbind(\.left) }, { $0.unbind(\.left, from: $0, \.right) }, { $0.unbind(\.right) },
        { $0.unbind(\.right, from: $0, \.left) }, { $0.unbindAll() },
        { pair in #expect(faults { pair.source(\.third).bind(to: pair, \.left, exclusive: true) } == [19]) },
      ]
      for (number, end) in ends.enumerated() {
        let pair = Pair()
        let token = pair.bindTwoWay(\.left, with: pair, \.right)
        end(pair)
        pair.right = 9
        #expect(pair.left == 0 && !token.isActive, "way \(number)")
        pair.left = 8
        #expect(pair.right == 9, "way \(number)")
      }
    }
  }

  @KeyValueObservable
  private final class Pair {
    var left = 0
    var right = 0
    var third = 0
  }

  @KeyValueObservable
  private final class Values {
    struct Flagged: Equatable {
      var number: Int
      var flag: Bool
    }
    var byte: UInt8 = 0
    var flagged = Flagged(number: 0, flag: false)
    var degrees = 0.0
  }
#endif
