// How often bindings set and convert until their two sides agree.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The rounds of a binding")
  struct BindingRoundTests {
    @Test("are counted anew for each change: many changes, each with many rounds, are no fault")
    func anew() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.source(\.pages).map { min($0 + 1, 500) }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
        for _ in 1...4 {
          one.pages = 0
          #expect(one.pages == 500 && other.pages == 500)
        }
      }
      #expect(codes == [])
    }

    @Test("end when applied sets the source to the same value again")
    func sameValueInApplied() {
      let (one, other) = (Document(), Document())
      var applied = 0
      let codes = faults {
        one.source(\.pages).bind(to: other, \.pages, initially: .wait) {
          applied += 1
          one.pages = 4
        }
        one.pages = 1
      }
      #expect(codes == [])
      #expect(one.pages == 4 && other.pages == 4)
      #expect(applied == 2)
    }

    @Test("in both directions are as many as KVO_MAX_ROUNDS permits")
    func inBothDirections() {
      let (one, other) = (Document(), Document())
      one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) { other.pages += 1 }
      #expect(faults { one.pages = 1 } == [24])
      #expect(other.pages - one.pages == 1 && (999...1005).contains(one.pages))
    }

    @Test("in both directions on an actor are as many, one after the other")
    @MainActor
    func onActor() {
      let (one, other) = (Document(), Document())
      one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) { other.pages += 1 }
      #expect(faults { one.pages = 1 } == [24])
      #expect(other.pages - one.pages == 1 && (999...1005).contains(one.pages))
    }

    @Test("end, with the fault, though another thread sets a side in one of them")
    func othersSetMeanwhile() {
      let (one, other) = (SharedDocument(), SharedDocument())
      var (calls, isElsewhere) = (0, false)
      let token = one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) {
        guard !isElsewhere else { return }
        calls += 1
        if calls == 3 {
          isElsewhere = true
          elsewhere { one.pages = -1000 }
          isElsewhere = false
        }
        if calls > 5000 { one.unbindAll() }  // it should have ended
        other.pages += 1
      }
      #expect(faults { one.pages = 1 } == [24])
      #expect((1000...1010).contains(calls), "\(calls)")
      token.invalidate()
    }

    @Test("are no fault if conversions come to values that stay after several of them")
    func converging() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait, forward: { $0 }, backward: { $0 / 2 })
        one.pages = 40
      }
      #expect(codes == [])
      #expect(one.pages == 40 && other.pages == 40)
    }

    @Test("do not correct a number whose text is rounded")
    func roundedText() {
      let (document, thermometer) = (Document(), Thermometer())
      let codes = faults {
        document.bindTwoWay(
          \.title, with: thermometer, \.degrees, forward: { Double($0) ?? 0 }, backward: { "\(Int($0.rounded()))" })
        thermometer.degrees = 20.4
      }
      #expect(codes == [])
      #expect(document.title == "20")
      #expect(thermometer.degrees == 20.4)
    }

    @Test("of a binding of Cocoa's end when both sides are NaN")
    func cocoaNaN() {
      let (dial, thermometer) = (Dial(), Thermometer())
      let codes = faults {
        dial.bind(.value, to: thermometer, withKeyPath: "degrees")
        dial.value = .nan
        thermometer.degrees = .nan
        dial.value = 3
      }
      #expect(codes == [])
      #expect(dial.value == 3 && thermometer.degrees == 3)
    }

    @Test("do not set a value that the target has, on any thread, and do not call applied then")
    func equalValues() {
      let (one, other, log) = (SharedDocument(), SharedDocument(), Log<String>())
      one.source(\.title).bind(to: other, \.title, initially: .wait) { log.add(other.title) }
      for _ in 1...3 { one.title = "A" }
      #expect(log.all == ["A"])
      elsewhere { for _ in 1...3 { one.title = "B" } }
      #expect(log.all == ["A", "B"])
    }
  }

  @KeyValueObservable
  private final class Thermometer {
    var degrees = 0.0
  }

  @KeyValueObservable
  private final class Dial: KeyValueObject {
    var value = 0.0
  }
#endif
