// Bindings settle before any observer is notified: each once, after those that set what it reads.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Shelf {
    var authors: [Author] = []
    weak var best: Author?
    var caption = ""
  }

  @Suite("Bindings settle before any observer is notified")
  struct BindingSettlingTests {
    private let source = Document()
    private let target = Document()
    private let log = Log<[Int]>()

    @Test("a sum over two bindings of one property is evaluated once, and goes from 12 to 23, never to 22")
    func diamond() {
      let (source, left, right, combined) = (source, Document(), Document(), Document())
      source.pages = 1
      left.bind(\.pages) { source.pages + 1 }
      right.bind(\.pages) { source.pages * 10 }
      var evaluations = 0
      target.bind(\.pages) {
        evaluations += 1
        return left.pages + right.pages
      }
      KeyValueSource.combineLatest(left.source(\.pages), right.source(\.pages)) { $0 + $1 }.bind(to: combined, \.pages)
      for sum in [target, combined] { sum.onChange(of: \.pages, for: log) { log, old, new in log.add([old, new]) } }
      evaluations = 0
      source.pages = 2
      #expect(log.all == [[12, 23], [12, 23]])
      #expect(evaluations == 1)
    }

    @Test("one of a string key path sets its target before the observers of what it reads are notified")
    func stringKeyPath() {
      let (author, log) = (Author("A"), Log<String>())
      source.author = author
      source.source("author.name", as: String?.self).map { $0 ?? "" }.bind(to: target, \.title)
      author.observe(\.name, for: log) { [target] log, author, _ in log.add("\(author.name) \(target.title)") }
      target.onChange(of: \.title, for: log) { log, old, new in log.add("\(old)>\(new)") }
      author.name = "B"
      withCoalescedChanges {
        target.title = "between"
        author.name = "C"
      }
      #expect(log.all == ["B B", "A>B", "B>C", "C C"])
    }

    @Test("in a grid of 9 x 9 cells that are left + up the last cell is evaluated once, and notifies once")
    func grid() {
      let cells = (0..<81).map { _ in Document() }
      cells[0].pages = 1
      var evaluations = 0
      for at in 1..<81 {
        let up = at >= 9 ? cells[at - 9] : nil
        let left = at % 9 > 0 ? cells[at - 1] : nil
        cells[at].bind(\.pages) {
          if at == 80 { evaluations += 1 }
          return (up?.pages ?? 0) + (left?.pages ?? 0)
        }
      }
      cells[80].onChange(of: \.pages, for: log) { log, old, new in log.add([old, new]) }
      evaluations = 0
      cells[0].pages = 2
      #expect(evaluations == 1 && log.all == [[12870, 25740]])
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

    @Test("the observer of a target may drop the last reference to it: the object lives until the observer returns")
    func droppedTarget() {
      final class Owner { var document: Document? = Document() }
      let (source, owner, log) = (source, Owner(), Log<String>())
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

    @Test("no observer sees a target that does not follow its source yet, whichever is registered first")
    func noMixture() {
      let target = target
      source.onChange(of: \.pages, for: log) { log, _, new in log.add([new, target.pages]) }
      source.source(\.pages).bind(to: target, \.pages)
      source.onChange(of: \.pages, for: log) { log, _, new in log.add([new, target.pages]) }
      source.pages = 3
      #expect(log.all == [[3, 3], [3, 3]])
    }

    @Test("one that is made before a store, in an observer, takes the value that is stored", arguments: 0..<4)
    func madeMeanwhile(kind: Int) {
      nonisolated(unsafe) let target = target
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
      let faults = raised {
        for at in 0..<3 { sides[at].source(\.pages).map { $0 + 1 }.bind(to: sides[(at + 1) % 3], \.pages) }
      }
      #expect(faults.map(\.code) == [24] && faults.first?.observations.count == 3)
    }

    @Test("one is not evaluated at the death of its target or of what it reads: its closure may capture them unowned")
    func unowned() {
      do {
        let document = SharedDocument()
        do {
          let made = Document()
          made.bind(\.pages) { [unowned made] in made.title.count + document.pages }
          made.title = "A"
          #expect(made.pages == 1)
          // Its last reference is released before the header of the shelf.
          let shelf = Shelf()
          shelf.bind(\.caption) { [unowned shelf] in shelf.best?.name ?? "" }
          shelf.authors = [Author("B")]
          shelf.best = shelf.authors[0]
          #expect(shelf.caption == "B")
        }
        document.pages = 5
        target.bind(\.pages) { [unowned document] in document.pages }
        document.pages = 6
      }
      #expect(target.pages == 6)
    }
  }
#endif
