// Bindings settle before anyone is told: each once, after those that set what it reads.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("Bindings settle before anyone is told")
  struct BindingSettlingTests {
    @Test("a sum over two bindings of one property is evaluated once, and goes from 12 to 23, never to 22")
    func diamond() {
      let (source, sides, sum, log) = (Document(), Sides(), Document(), Log<Int>())
      source.pages = 1
      sides.bind(\.left) { source.pages + 1 }
      sides.bind(\.right) { source.pages * 10 }
      var evaluations = 0
      sum.bind(\.pages) {
        evaluations += 1
        return sides.left + sides.right
      }
      let token = sum.observe(\.pages, options: [.old, .new]) { _, change in
        log.add(change.oldValue!)
        log.add(change.newValue!)
      }
      evaluations = 0
      source.pages = 2
      #expect(log.all == [12, 23])
      #expect(evaluations == 1)
      token.invalidate()
    }

    @Test("in a grid of 9 x 9 cells that are left + up the last cell is evaluated once, and told once")
    func grid() {
      let cells = (0..<81).map { _ in Document() }
      cells[0].pages = 1
      var (evaluations, told) = (0, 0)
      for at in 1..<81 {
        let up = at >= 9 ? cells[at - 9] : nil
        let left = at % 9 > 0 ? cells[at - 1] : nil
        cells[at].bind(\.pages) {
          if at == 80 { evaluations += 1 }
          return (up?.pages ?? 0) + (left?.pages ?? 0)
        }
      }
      let token = cells[80].onChange(of: \.pages) { old, new in
        #expect([old, new] == [12870, 25740])
        told += 1
      }
      evaluations = 0
      cells[0].pages = 2
      #expect([evaluations, told] == [1, 1])
      token.invalidate()
    }

    @Test("the observer of a target may drop the last reference to it: the object lives until the observer returns")
    func droppedTarget() {
      final class Owner {
        var document: Document? = Document()
      }
      let (source, owner, log) = (Document(), Owner(), Log<String>())
      owner.document!.bind(\.pages) { source.pages }
      owner.document!.onDeinit { log.add("deinit") }
      source.onChange(of: \.pages, for: owner) { _, _, _ in }
      owner.document!.observe(\.pages, options: .new, for: owner) { owner, document, change in
        owner.document = nil
        log.add("\(change.newValue!) \(document.pages)")
      }
      source.pages = 5
      #expect(log.all == ["5 5", "deinit"])
    }

    @Test("400 cells, each of the one before and of the one at half its index, are evaluated 399 times")
    func shortCuts() {
      let cells = (0..<400).map { _ in Document() }
      var evaluations = 0
      for at in 1..<400 {
        cells[at].bind(\.pages) { [one = cells[at - 1], other = cells[at / 2]] in
          evaluations += 1
          return (one.pages + other.pages + at) % 1_000_003
        }
      }
      evaluations = 0
      cells[0].pages = 7
      #expect(evaluations == 399)
    }

    @Test("a source of two properties is told to the target's observers once, with the values before and now")
    func combined() {
      let (source, sides, target, log) = (Document(), Sides(), Document(), Log<Int>())
      source.source(\.pages).bind(to: sides, \.left)
      source.source(\.pages).map { $0 * 10 }.bind(to: sides, \.right)
      KeyValueSource.combineLatest(sides.source(\.left), sides.source(\.right)) { $0 + $1 }.bind(to: target, \.pages)
      let token = target.onChange(of: \.pages) { _, new in log.add(new) }
      source.pages = 2
      #expect(log.all == [22])
      token.invalidate()
    }

    @Test("no observer sees a target that does not follow its source yet, whichever is registered first")
    func noMixture() {
      let (source, target) = (Document(), Document())
      var told = 0
      let first = source.onChange(of: \.pages) { _, new in
        told += 1
        #expect(target.pages == new)
      }
      source.source(\.pages).bind(to: target, \.pages)
      let second = source.onChange(of: \.pages) { _, new in
        told += 1
        #expect(target.pages == new)
      }
      source.pages = 3
      #expect(told == 2)
      first.invalidate()
      second.invalidate()
    }

    @Test("one that is made before a store, in an observer, takes the value that is stored", arguments: 0..<4)
    func madeMeanwhile(kind: Int) {
      let source = Document()
      nonisolated(unsafe) let target = Document()
      let token = source.observe(\.pages, options: .prior) { source, change in
        guard change.isPrior else { return }
        switch kind {
        case 0: source.source(\.pages).bind(to: target, \.pages)
        case 1: target.bindTwoWay(\.pages, with: source, \.pages)
        case 2: target.bind(\.pages) { source.pages }
        default:
          KeyValueSource.combineLatest(source.source(\.pages), source.source(\.title)) { pages, _ in pages }
            .bind(to: target, \.pages)
        }
      }
      source.pages = 7
      #expect(target.pages == 7)
      token.invalidate()
      target.unbindAll()
    }

    @Test("a cycle of three that never agrees is KVO0024, which names all of them")
    func namesCycle() {
      let sides = (0..<3).map { _ in Document() }
      let named = Log<Int>()
      KeyValueFault.withHandler {
        named.add($0.observations.count)
        return .ignore
      } in: {
        for at in 0..<3 { sides[at].source(\.pages).map { $0 + 1 }.bind(to: sides[(at + 1) % 3], \.pages) }
      }
      #expect(named.all == [3])
    }

    @Test("one ends with its target without being evaluated again: its closure may capture that as unowned")
    func unownedTarget() {
      let document = SharedDocument()
      do {
        let sides = Sides()
        sides.bind(\.left) { [unowned sides] in sides.right + document.pages }
        sides.right = 1
        #expect(sides.left == 1)
      }
      document.pages = 5
    }

    @Test("one is not evaluated at the death of what it has read: its closure may capture that as unowned")
    func unownedSource() {
      let sides = Sides()
      do {
        let document = SharedDocument()
        sides.bind(\.left) { [unowned document] in document.pages }
        document.pages = 5
      }
      #expect(sides.left == 5)
    }

    @Test("a target of two sources, each set by a thread of its own, ends with the last values")
    func threads() {
      for _ in 0..<50 {
        let (one, other, target) = (SharedCounter(), SharedCounter(), SharedCounter())
        KeyValueSource.combineLatest(one.source(\.number), other.source(\.number)) { $0 + $1 }.bind(
          to: target, \.number)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          for value in 1...200 { (thread == 0 ? one : other).number = value }
        }
        #expect(target.number == 400)
      }
    }
  }

  @KeyValueObservable
  private final class Sides {
    var left = 0
    var right = 0
  }
#endif
