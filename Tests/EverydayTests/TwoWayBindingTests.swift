// Two-way bindings: both directions, corrections and conversions, threads, and the end.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @MainActor
  @KeyValueObservable
  private final class DialOfActor {
    var shown = 0
  }

  @Suite("A two-way binding")
  struct TwoWayBindingTests {
    @Test("first takes the value on the right, then follows both sides")
    func bothWays() {
      let (one, other) = (Document(), Document())
      other.title = "right"
      one.title = "left"
      one.bindTwoWay(\.title, with: other, \.title)
      #expect([one.title, other.title] == ["right", "right"])
      one.title = "A"
      #expect(other.title == "A")
      other.title = "B"
      #expect(one.title == "B")
    }

    @Test("follows values of any size")
    func sizes() {
      let (one, other) = (Sizes(), Sizes())
      one.bindTwoWay(\.byte, with: other, \.byte)
      one.bindTwoWay(\.flagged, with: other, \.flagged)
      one.bindTwoWay(\.pair, with: other, \.pair)
      one.bindTwoWay(\.text, with: other, \.text)
      one.byte = 7
      one.flagged = .init(number: 1, flag: true)
      other.pair = .init(left: 1, right: 2)
      one.text = "A"
      #expect(other.flagged == .init(number: 1, flag: true))
      #expect(other.byte == 7 && one.pair == .init(left: 1, right: 2) && other.text == "A")
    }

    @Test("with .fromLeft first takes the value on the left, with .wait none")
    func initially() {
      let (one, other, third) = (Document(), Document(), Document())
      one.title = "left"
      one.bindTwoWay(\.title, with: other, \.title, initially: .fromLeft)
      #expect(other.title == "left")
      one.bindTwoWay(\.title, with: third, \.title, initially: .wait)
      #expect(third.title == "")
    }

    @Test("corrects the right side when the left one, or its observer, makes another value of the first")
    func initialCorrection() {
      let (bounded, other, document) = (Bounded(most: 60), Document(), Document())
      other.pages = 78
      bounded.bindTwoWay(\.value, with: other, \.pages)
      #expect([bounded.value, other.pages] == [60, 60])
      let token = document.observe(\.pages) { document, _ in if document.pages == 40 { document.pages = 45 } }
      other.pages = 40
      document.bindTwoWay(\.pages, with: other, \.pages)
      #expect([document.pages, other.pages] == [45, 45])
      token.invalidate()
    }

    @Test("on an actor gives the last set, though an earlier one of another thread waits for its delivery")
    @MainActor func waitingDelivery() async {
      for isObserved in [false, true] {
        let (model, screen) = (SharedDocument(), DialOfActor())
        var told: [Int] = []
        if isObserved { screen.onChange(of: \.shown, for: screen) { _, _, new in told.append(new) } }
        screen.bindTwoWay(\.shown, with: model, \.pages)
        elsewhere { model.pages = 3 }
        screen.shown = 8
        #expect([screen.shown, model.pages] == [8, 8])
        await Task.yield()
        #expect([screen.shown, model.pages] == [8, 8] && told == (isObserved ? [8] : []))
      }
    }

    @Test("converts in both directions; a rounding conversion does not flow back")
    func converts() {
      let (slider, model) = (Document(), Celsius())
      let codes = faults {
        slider.bindTwoWay(\.pages, with: model, \.degrees, forward: { Double($0) }, backward: { Int($0.rounded()) })
        model.degrees = 20.4
        #expect(slider.pages == 20)
        #expect(model.degrees == 20.4)
        slider.pages = 30
        #expect(model.degrees == 30)
      }
      #expect(codes == [])
    }

    @Test("corrects the other side when a setter makes another value, and tells it once")
    func correction() {
      let (bounded, model, log) = (Bounded(most: 40), Document(), Log<Int>())
      bounded.bindTwoWay(\.value, with: model, \.pages)
      let token = model.observe(\.pages, options: .new) { _, change in log.add(change.newValue!) }
      #expect(faults { model.pages = 99 } == [])
      #expect([bounded.value, model.pages] == [40, 40])
      #expect(log.all == [40])
      token.invalidate()
    }

    @Test("corrects until both setters agree, also in a chain of two")
    func corrections() {
      let (one, other, third) = (Bounded(most: 10), Document(), Even())
      let codes = faults {
        one.bindTwoWay(\.value, with: other, \.pages)
        other.bindTwoWay(\.pages, with: third, \.value)
        other.pages = 51
      }
      #expect(codes == [])
      #expect([one.value, other.pages, third.value] == [10, 10, 10])
    }

    @Test("takes what applied sets, too")
    func setInApplied() {
      let (one, other) = (Document(), Document())
      one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) { if other.pages < 4 { other.pages += 1 } }
      one.pages = 1
      #expect([one.pages, other.pages] == [4, 4])
    }

    @Test("takes what applied sets on the side that has changed, in one direction or both, on an actor or not")
    @MainActor func setsSourceInApplied() {
      func check(_ bind: (Document, Document, @escaping () -> Void) -> Void) {
        let (one, other) = (Document(), Document())
        bind(one, other) { if one.pages < 4 { one.pages += 1 } }
        one.pages = 1
        #expect([one.pages, other.pages] == [4, 4])
      }
      check { one, other, raise in one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait) { raise() } }
      check { one, other, raise in one.source(\.pages).bind(to: other, \.pages, initially: .wait) { raise() } }
      nonisolatedBindings(check)
    }

    private nonisolated func nonisolatedBindings(
      _ check: ((Document, Document, @escaping () -> Void) -> Void) -> Void
    ) {
      check { one, other, raise in one.bindTwoWay(\.pages, with: other, \.pages, initially: .wait, applied: raise) }
      check { one, other, raise in one.source(\.pages).bind(to: other, \.pages, initially: .wait, applied: raise) }
    }

    @Test("that several threads use on both sides settles, without a fault")
    func threads() {
      let (one, other) = (Locked(), Locked())
      let codes = Log<Int>()
      one.bindTwoWay(\.value, with: other, \.value)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for code in faults(in: { for i in 0..<500 { (thread % 2 == 0 ? one : other).value = thread * 1000 + i } }) {
          codes.add(code)
        }
      }
      #expect(codes.all == [])
      #expect(one.value == other.value)
    }

    @Test("takes in a scope the side that has changed, and of two changed ones the left")
    func inScopes() {
      for isLeftFirst in [true, false] {
        let (left, right) = (Document(), Document())
        right.pages = 12
        left.bindTwoWay(\.pages, with: right, \.pages)
        func set(_ leftPages: Int, _ rightPages: Int) {
          withCoalescedChanges {
            if isLeftFirst { left.pages = leftPages }
            right.pages = rightPages
            if !isLeftFirst { left.pages = leftPages }
          }
        }
        set(12, 9)
        #expect([left.pages, right.pages] == [9, 9])
        set(5, 9)
        #expect([left.pages, right.pages] == [5, 5])
        set(6, 7)
        #expect([left.pages, right.pages] == [6, 6])
      }
    }

    @Test("whose source several threads set gives its target the last value")
    func threadsOfSource() {
      for round in 0..<100 {
        let (one, other) = (Locked(), Locked())
        one.source(\.value).bind(to: other, \.value, initially: round % 2 == 0 ? .set : .wait)
        one.value = -1
        #expect(other.value == -1)
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
          for i in 0..<20 { one.value = thread * 1000 + i }
        }
        #expect(other.value == one.value)
      }
    }

    @Test("that another thread goes on to use settles there, too, and then on the first one again")
    func otherThread() {
      let sides = [Bounded(most: 100), Bounded(most: 40), Bounded(most: 100)]
      nonisolated(unsafe) let shared = sides
      let codes = faults {
        for (index, side) in sides.enumerated() { side.source(\.value).bind(to: sides[(index + 1) % 3], \.value) }
        sides[0].value = 7
        onOtherThread { shared[2].value = 99 }
        #expect(sides.map(\.value) == [40, 40, 40])
        onOtherThread { shared[1].value = 12 }
        #expect(sides.map(\.value) == [12, 12, 12])
        sides[1].value = 77
        #expect(sides.map(\.value) == [40, 40, 40])
      }
      #expect(codes == [])
    }

    @Test("knows its own answers on each thread: a rounding conversion does not flow back there either, nor in a chain")
    func answersOnOtherThread() {
      let (slider, celsius, kelvin) = (Document(), Celsius(), Celsius())
      nonisolated(unsafe) let models = [celsius, kelvin]
      let codes = faults {
        slider.bindTwoWay(\.pages, with: celsius, \.degrees, forward: { Double($0) }, backward: { Int($0.rounded()) })
        celsius.bindTwoWay(\.degrees, with: kelvin, \.degrees, forward: { $0 + 273 }, backward: { $0 - 273 })
        celsius.degrees = 10.4
        #expect(slider.pages == 10 && celsius.degrees == 10.4 && kelvin.degrees == 283.4)
        onOtherThread { models[0].degrees = 20.25 }
        #expect(slider.pages == 20 && celsius.degrees == 20.25 && kelvin.degrees == 293.25)
        onOtherThread { models[1].degrees = 303.25 }
        #expect(slider.pages == 30 && celsius.degrees == 30.25 && kelvin.degrees == 303.25)
      }
      #expect(codes == [])
    }

    @Test("has the last value, though another thread sets one while the value is read")
    func setWhileRead() {
      let (counter, other) = (SharedCounter(), SharedCounter())
      counter.bindTwoWay(\.number, with: other, \.number, initially: .wait)
      counter.number = 1
      onOtherThread { counter.number = 2 }
      #expect(other.number == 2)
      counter.setWhenRead(to: 9)
      counter.number = 3
      #expect([counter.number, other.number] == [9, 9])
    }

    @Test("sets a collection as a whole, however the source was changed")
    func collection() {
      let (one, other, third) = (Document(), Document(), Document())
      one.source(\.tags).bind(to: other, \.tags)
      third.bindTwoWay(\.tags, with: other, \.tags)
      one.mutableArrayValue(for: \.tags).append("A")
      one.mutableArrayValue(for: \.tags).insert("B", at: 0)
      one.tags.append("C")
      #expect([other.tags, third.tags] == [["B", "A", "C"], ["B", "A", "C"]])
    }

    @Test("sets a collection as a whole on an actor, in both directions, and of a source that an operator makes")
    @MainActor func collectionOnActor() {
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

    @Test("whose setters never agree is told once for a change, and both sides keep their last values")
    func neverAgrees() {
      let (bounded, model) = (Bounded(most: 40), AtLeast())
      let first = faults {
        bounded.bindTwoWay(\.value, with: model, \.value, initially: .wait)
        model.value = 60
      }
      #expect(first == [24])
      #expect(faults { model.value = 70 } == [24])
      #expect([bounded.value, model.value] == [40, 50])
    }

    @Test("whose setters never agree is given up after the rounds that KVO_MAX_ROUNDS permits, not before")
    func rounds() {
      let (bounded, model) = (Bounded(most: 40), AtLeast())
      var conversions = 0
      let codes = faults {
        bounded.bindTwoWay(
          \.value, with: model, \.value, initially: .wait,
          forward: {
            conversions += 1
            return $0
          }, backward: { $0 })
        model.value = 60
      }
      #expect(codes == [24])
      #expect((1000...1005).contains(conversions), "\(conversions)")
    }

    @Test("of collections transfers the whole collection, however it was changed")
    func collections() {
      let (one, other) = (Document(), Document())
      one.tags = ["a"]
      let token = one.bindTwoWay(\.tags, with: other, \.tags, initially: .fromLeft)
      one.mutableArrayValue(for: \.tags).append("b")
      #expect(other.tags == ["a", "b"])
      other.mutableArrayValue(for: \.tags).remove(at: 0)
      #expect(one.tags == ["b"])
      other.tags[0] = "c"
      #expect(one.tags == ["c"])
      one.mutableArrayValue(for: \.tags)[0] = "d"
      #expect(other.tags == ["d"])
      one.mutableArrayValue(for: \.tags).removeAll()
      #expect(other.tags == [])
      token.invalidate()
    }

    @Test("that has ended is replaced by no other")
    func endedIsNotReplaced() {
      let (one, other) = (Document(), Document())
      one.bindTwoWay(\.title, with: other, \.title).invalidate()
      #expect(faults { other.source(\.title).bind(to: one, \.title, exclusive: true).invalidate() } == [])
      #expect(faults { one.source(\.title).bind(to: other, \.title, exclusive: true).invalidate() } == [])
      one.bindTwoWay(\.title, with: other, \.title)
      #expect(faults { other.source(\.title).bind(to: one, \.title, exclusive: true) } == [19])
    }

    @Test("whose conversions differ sets the other side once, without a fault")
    func conversionsNeverAgree() {
      let (one, other) = (Document(), Document())
      let first = faults {
        one.bindTwoWay(\.pages, with: other, \.pages, forward: { $0 + 1 }, backward: { $0 })
        one.pages = 4
        #expect([one.pages, other.pages] == [4, 5])
      }
      #expect(first == [])
      #expect(faults { other.pages = 9 } == [])
      #expect([one.pages, other.pages] == [9, 9])
    }

    @Test("takes NaN for a value like any other")
    func nan() {
      let (one, other) = (Celsius(), Celsius())
      let codes = faults {
        one.bindTwoWay(\.degrees, with: other, \.degrees)
        other.degrees = .nan
        other.degrees = 2
      }
      #expect(codes == [])
      #expect(one.degrees == 2)
    }

    @Test("ends with either side, with its token, and with unbind on either side")
    func ends() {
      var (one, other): (Document?, Document?) = (Document(), Document())
      var token = one!.bindTwoWay(\.title, with: other!, \.title)
      other = nil
      #expect(!token.isActive)
      one!.title = "A"
      other = Document()
      token = one!.bindTwoWay(\.title, with: other!, \.title)
      one = nil
      #expect(!token.isActive)
      one = Document()
      token = one!.bindTwoWay(\.title, with: other!, \.title)
      other!.unbind(\.title)
      #expect(!token.isActive)
      one!.title = "B"
      other!.title = "C"
      #expect(one!.title == "B")
    }

    @Test("told of the end once, whoever causes it")
    func onEnd() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      let token = one.bindTwoWay(\.title, with: other, \.title)
      token.onEnd { log.add("\($0)") }
      token.invalidate()
      token.invalidate()
      #expect(log.all == ["invalidated"])
    }
  }

  /// Runs work on a thread that is not this one, and waits for its end.
  private func onOtherThread(_ work: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      work()
      done.signal()
    }
    done.wait()
  }

  @KeyValueObservable
  private final class Even {
    var value = 0 { didSet { if value % 2 != 0 { value += 1 } } }
  }

  @KeyValueObservable
  private final class Sizes {
    struct Pair: Equatable {
      var left, right: Int
    }
    struct Flagged: Equatable {
      var number: Int
      var flag: Bool
    }
    var byte: UInt8 = 0
    var flagged = Flagged(number: 0, flag: false)
    var pair = Pair(left: 0, right: 0)
    var text = ""
  }

  @KeyValueObservable
  private final class Celsius {
    var degrees = 0.0
  }

  @KeyValueObservable
  private final class AtLeast {
    var value = 50 { didSet { if value < 50 || value > 50 { value = 50 } } }
  }
#endif
