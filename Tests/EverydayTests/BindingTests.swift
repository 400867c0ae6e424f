// Bindings in one direction.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("A binding")
  struct BindingTests {
    @Test("sets its target now and at each change, through operators")
    func oneWay() {
      let (document, other) = (Document(), Document())
      document.title = "a"
      document.source(\.title).filter { !$0.isEmpty }.map { $0.uppercased() }.bind(to: other, \.title)
      #expect(other.title == "A")
      document.title = "b"
      document.title = ""
      #expect(other.title == "B")
    }

    @Test("with .wait first sets its target at the next change")
    func wait() {
      let (document, other) = (Document(), Document())
      document.title = "a"
      document.source(\.title).bind(to: other, \.title, initially: .wait)
      #expect(other.title == "")
      document.title = "b"
      #expect(other.title == "b")
    }

    @Test("keeps neither side, and ends with either")
    func ends() {
      var (document, other): (Document?, Document?) = (Document(), Document())
      let token = document!.source(\.title).bind(to: other!, \.title)
      #expect(token.isActive)
      other = nil
      #expect(!token.isActive)
      document!.title = "A"
      other = Document()
      let second = document!.source(\.title).bind(to: other!, \.title)
      document = nil
      #expect(!second.isActive)
      #expect(other!.title == "A")
    }

    @Test("to an expression follows what it reads")
    func expression() {
      let (document, other) = (Document(), Document())
      other.bind(\.title) { "\(document.title) (\(document.pages))" }
      document.title = "A"
      document.pages = 2
      #expect(other.title == "A (2)")
    }

    @Test("calls applied after each set")
    func applied() {
      let (document, other, log) = (Document(), Document(), Log<String>())
      document.source(\.title).bind(to: other, \.title) { log.add(other.title) }
      document.title = "A"
      #expect(log.all == ["", "A"])
    }

    @Test("sets an optional property")
    func optional() {
      let (document, panel) = (Document(), OptionalPanel())
      document.source(\.title).bind(to: panel, \.caption)
      #expect(panel.caption == "")
    }

    @Test("is one of several into a property, and unbind ends them: all, those from one property, or all of the object")
    func unbind() {
      let (one, other, target) = (Document(), Document(), Document())
      func bind() {
        one.source(\.title).map { $0 }.bind(to: target, \.title, initially: .wait)
        other.source(\.title).bind(to: target, \.title, initially: .wait)
        one.source(\.pages).bind(to: target, \.pages, initially: .wait)
      }
      func told() -> [String] {
        target.title = "-"
        target.pages = 0
        one.title = "one"
        let first = target.title
        other.title = "other"
        one.pages = 1
        return [first, target.title, "\(target.pages)"]
      }
      bind()
      #expect(told() == ["one", "other", "1"])
      target.unbind(\.title, from: one, \.title)
      #expect(told() == ["-", "other", "1"])
      target.unbind(\.title, from: one, \.title)
      target.unbind(\.title)
      #expect(told() == ["-", "-", "1"])
      bind()
      target.unbindAll()
      #expect(told() == ["-", "-", "0"])
    }

    @Test("that is exclusive replaces the others, and says so")
    func exclusive() {
      let (one, other, target) = (Document(), Document(), Document())
      one.source(\.title).bind(to: target, \.title)
      #expect(faults { other.source(\.title).bind(to: target, \.title, exclusive: true) } == [19])
      one.title = "one"
      #expect(target.title == "")
      other.title = "other"
      #expect(target.title == "other")
    }

    @Test("in a cycle of three settles, also if a setter corrects the value")
    func cycle() {
      let sides = [Bounded(most: 100), Bounded(most: 40), Bounded(most: 100)]
      let codes = faults {
        for (index, side) in sides.enumerated() { side.source(\.value).bind(to: sides[(index + 1) % 3], \.value) }
        sides[0].value = 7
        #expect(sides.map(\.value) == [7, 7, 7])
        sides[2].value = 99
      }
      #expect(codes == [])
      #expect(sides.map(\.value) == [40, 40, 40])
    }

    @Test("in a cycle that never settles is told once, and all keep their last values")
    func endlessCycle() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.source(\.pages).map { $0 + 1 }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
        one.pages = 1
        other.pages = 5
      }
      #expect(codes == [24])
      #expect(abs(one.pages - other.pages) <= 1)
    }

    @Test("that settles after many rounds is no fault")
    func manyRounds() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.source(\.pages).map { min($0 + 1, 500) }.bind(to: other, \.pages)
        other.source(\.pages).bind(to: one, \.pages)
      }
      #expect(codes == [])
      #expect([one.pages, other.pages] == [500, 500])
    }

    @Test("sets its target on the actor of the code that binds, in order, also for changes made elsewhere")
    @MainActor
    func onActor() async {
      let (shared, panel, log) = (SharedDocument(), Panel(), Log<String>())
      shared.source(\.title).bind(to: panel, \.caption) {
        MainActor.assertIsolated()
        log.add(panel.caption)
      }
      shared.title = "A"
      #expect(panel.caption == "A")
      await Task.detached { for title in ["B", "C", "D"] { shared.title = title } }.value
      while panel.caption != "D" { await Task.yield() }
      #expect(log.all == ["", "A", "B", "C", "D"])
    }

    @Test("that is ended while it sets its target does not set it again")
    func endedWithin() {
      nonisolated(unsafe) let one = Document()
      let other = Document()
      one.source(\.pages).bind(to: other, \.pages)
      let token = other.observe(\.pages) { other, _ in
        other.unbind(\.pages)
        one.pages = 9
      }
      one.pages = 5
      #expect([one.pages, other.pages] == [9, 5])
      one.bind(\.title, with: other, \.title)
      let second = other.observe(\.title) { other, _ in
        other.unbind(\.title)
        one.title = "B"
      }
      one.title = "A"
      #expect([one.title, other.title] == ["B", "A"])
      withExtendedLifetime((token, second)) {}
    }

    @Test("can be ended while it sets its target for the first time")
    func endedInitially() {
      let (one, other) = (Document(), Document())
      let token = one.source(\.pages).bind(to: other, \.pages) { other.unbind(\.pages) }
      one.pages = 5
      #expect(other.pages == 0)
      #expect(!token.isActive)
      one.bind(\.title, with: other, \.title) { one.unbindAll() }
      other.title = "A"
      #expect(one.title == "")
    }

    @Test("chains, one hundred long")
    func chain() {
      let documents = (0...100).map { _ in Document() }
      for (source, target) in zip(documents, documents.dropFirst()) {
        source.source(\.pages).bind(to: target, \.pages, initially: .wait)
      }
      documents[0].pages = 3
      #expect(documents.allSatisfy { $0.pages == 3 })
    }
  }

  private final class OptionalPanel {
    var caption: String?
  }

  @KeyValueObservable
  private final class Bounded {
    let most: Int
    var value = 0 { didSet { if value > most { value = most } } }

    init(most: Int) { self.most = most }
  }

  @Suite("A two-way binding")
  struct TwoWayBindingTests {
    @Test("first takes the value on the right, then follows both sides")
    func bothWays() {
      let (one, other) = (Document(), Document())
      other.title = "right"
      one.title = "left"
      one.bind(\.title, with: other, \.title)
      #expect([one.title, other.title] == ["right", "right"])
      one.title = "A"
      #expect(other.title == "A")
      other.title = "B"
      #expect(one.title == "B")
    }

    @Test("with .fromLeft first takes the value on the left, with .wait none")
    func initially() {
      let (one, other, third) = (Document(), Document(), Document())
      one.title = "left"
      one.bind(\.title, with: other, \.title, initially: .fromLeft)
      #expect(other.title == "left")
      one.bind(\.title, with: third, \.title, initially: .wait)
      #expect(third.title == "")
    }

    @Test("converts in both directions; a rounding conversion does not flow back")
    func converts() {
      let (slider, model) = (Document(), Celsius())
      let codes = faults {
        slider.bind(\.pages, with: model, \.degrees, forward: { Double($0) }, backward: { Int($0.rounded()) })
        model.degrees = 20.4
        #expect(slider.pages == 20)
        #expect(model.degrees == 20.4)
        slider.pages = 30
        #expect(model.degrees == 30)
      }
      #expect(codes == [])
    }

    @Test("corrects the other side once when a setter makes another value")
    func correction() {
      let (bounded, model, log) = (Bounded(most: 40), Document(), Log<Int>())
      bounded.bind(\.value, with: model, \.pages)
      let token = model.observe(\.pages, options: .new) { _, change in log.add(change.newValue!) }
      #expect(faults { model.pages = 99 } == [])
      #expect([bounded.value, model.pages] == [40, 40])
      #expect(log.all.sorted() == [40, 99])
      token.invalidate()
    }

    @Test("corrects until both setters agree, also in a chain of two")
    func corrections() {
      let (one, other, third) = (Bounded(most: 10), Document(), Even())
      let codes = faults {
        one.bind(\.value, with: other, \.pages)
        other.bind(\.pages, with: third, \.value)
        other.pages = 51
      }
      #expect(codes == [])
      #expect([one.value, other.pages, third.value] == [10, 10, 10])
    }

    @Test("takes what applied sets, too")
    func setInApplied() {
      let (one, other) = (Document(), Document())
      one.bind(\.pages, with: other, \.pages, initially: .wait) { if other.pages < 4 { other.pages += 1 } }
      one.pages = 1
      #expect([one.pages, other.pages] == [4, 4])
    }

    @Test("that several threads use on both sides settles, without a fault")
    func threads() {
      let (one, other) = (Locked(), Locked())
      let codes = Log<Int>()
      one.bind(\.value, with: other, \.value)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for code in faults(in: { for i in 0..<500 { (thread % 2 == 0 ? one : other).value = thread * 1000 + i } }) {
          codes.add(code)
        }
      }
      #expect(codes.all == [])
      #expect(one.value == other.value)
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
        func onOtherThread(_ work: @escaping @Sendable () -> Void) {
          let done = DispatchSemaphore(value: 0)
          DispatchQueue.global().async {
            work()
            done.signal()
          }
          done.wait()
        }
        onOtherThread { shared[2].value = 99 }
        #expect(sides.map(\.value) == [40, 40, 40])
        onOtherThread { shared[1].value = 12 }
        #expect(sides.map(\.value) == [12, 12, 12])
        sides[1].value = 77
        #expect(sides.map(\.value) == [40, 40, 40])
      }
      #expect(codes == [])
    }

    @Test("sets a collection as a whole, however the source was changed")
    func collection() {
      let (one, other, third) = (Document(), Document(), Document())
      one.source(\.tags).bind(to: other, \.tags)
      third.bind(\.tags, with: other, \.tags)
      one.mutableArrayValue(for: \.tags).append("A")
      one.mutableArrayValue(for: \.tags).insert("B", at: 0)
      one.tags.append("C")
      #expect([other.tags, third.tags] == [["B", "A", "C"], ["B", "A", "C"]])
    }

    @Test("sets a collection as a whole on an actor, in both directions, and of a source that an operator makes")
    @MainActor func collectionOnActor() {
      let (one, other, third) = (Document(), Document(), Document())
      one.bind(\.tags, with: other, \.tags)
      one.source(\.tags).map { $0 }.bind(to: third, \.tags)
      one.mutableArrayValue(for: \.tags).append("A")
      #expect([other.tags, third.tags] == [["A"], ["A"]])
      other.mutableArrayValue(for: \.tags).insert("B", at: 0)
      other.mutableArrayValue(for: \.tags).append("C")
      #expect([one.tags, other.tags, third.tags] == [["B", "A", "C"], ["B", "A", "C"], ["B", "A", "C"]])
      other.mutableArrayValue(for: \.tags).remove(at: 1)
      #expect([one.tags, other.tags, third.tags] == [["B", "C"], ["B", "C"], ["B", "C"]])
    }

    @Test("whose setters never agree is told once, and both sides keep their last values")
    func neverAgrees() {
      let (bounded, model) = (Bounded(most: 40), AtLeast())
      let codes = faults {
        bounded.bind(\.value, with: model, \.value, initially: .wait)
        model.value = 60
        model.value = 70
      }
      #expect(codes == [24])
      #expect([bounded.value, model.value] == [40, 50])
    }

    @Test("whose conversions never agree is told once, and both sides keep their last values")
    func conversionsNeverAgree() {
      let (one, other) = (Document(), Document())
      let codes = faults {
        one.bind(\.pages, with: other, \.pages, forward: { $0 + 1 }, backward: { $0 })
        one.pages = 4
        #expect([one.pages, other.pages] == [4, 5])
        other.pages = 9
      }
      #expect(codes == [24])
      #expect([one.pages, other.pages] == [9, 9])
    }

    @Test("takes NaN for a value like any other")
    func nan() {
      let (one, other) = (Celsius(), Celsius())
      let codes = faults {
        one.bind(\.degrees, with: other, \.degrees)
        other.degrees = .nan
        other.degrees = 2
      }
      #expect(codes == [])
      #expect(one.degrees == 2)
    }

    @Test("ends with either side, with its token, and with unbind on either side")
    func ends() {
      var (one, other): (Document?, Document?) = (Document(), Document())
      var token = one!.bind(\.title, with: other!, \.title)
      other = nil
      #expect(!token.isActive)
      one!.title = "A"
      other = Document()
      token = one!.bind(\.title, with: other!, \.title)
      one = nil
      #expect(!token.isActive)
      one = Document()
      token = one!.bind(\.title, with: other!, \.title)
      other!.unbind(\.title)
      #expect(!token.isActive)
      one!.title = "B"
      other!.title = "C"
      #expect(one!.title == "B")
    }

    @Test("told of the end once, whoever causes it")
    func onEnd() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      let token = one.bind(\.title, with: other, \.title)
      token.onEnd { log.add("\($0)") }
      token.invalidate()
      token.invalidate()
      #expect(log.all == ["invalidated"])
    }
  }

  @KeyValueObservable
  private final class Even {
    var value = 0 { didSet { if value % 2 != 0 { value += 1 } } }
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
