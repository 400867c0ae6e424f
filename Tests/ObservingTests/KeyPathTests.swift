// Observation of expressions: nested key paths and computed properties, whose objects are replaced or deallocated.
import KeyValueObserving
import Testing

@Suite("Observing key paths and computed properties")
struct KeyPathTests {
  let document = Document()
  let log = Log()

  @Test func `A nested path notifies of changes of its leaf and of replacements on the path`() {
    let token = document.log(\.author?.name, to: log)
    let ann = Person(name: "Ann")
    document.author = ann
    ann.name = "Anna"
    document.author = Person(name: "Bob")
    ann.name = "detached"
    document.author = nil
    #expect(log.lines == ["nil>Ann", "Ann>Anna", "Anna>Bob", "Bob>nil"])
    #expect(ann.observationInfo == nil)
    token.invalidate()
    #expect(document.observationInfo == nil)
  }

  @Test func `A path with forced unwrapping has no value while an object on it is nil`() {
    let token = document.log(\.author!.name, [.initial, .old, .new], to: log)
    document.author = Person(name: "Ann")
    document.author!.name = "Bob"
    document.author = Person(name: "Cid")
    document.author = nil
    document.author = Person(name: "Dan")
    #expect(log.lines == ["->-", "->Ann", "Ann>Bob", "Bob>Cid", "Cid>-", "->Dan"])
    token.invalidate()
    #expect(document.observationInfo == nil)
  }

  @Test func `Assigning the same object again is one change`() {
    let ann = Person(name: "Ann")
    document.author = ann
    let token = document.log(\.author?.name, to: log)
    document.author = ann
    #expect(log.lines == ["Ann>Ann"])
    token.invalidate()
  }

  @Test func `Longer paths follow replacements at each level`() {
    let token = document.log(\.author?.partner?.name, to: log)
    let ann = Person(name: "Ann")
    let bob = Person(name: "Bob")
    document.author = ann
    ann.partner = bob
    bob.name = "Rob"
    ann.partner = nil
    bob.name = "silent"
    #expect(log.lines == ["nil>nil", "nil>Bob", "Bob>Rob", "Rob>nil"])
    token.invalidate()
  }

  @Test func `The deallocation of a weak object on the path is a change to nil, with the old value`() {
    var boss: Person? = Person(name: "Eve")
    let ann = Person(name: "Ann")
    ann.boss = boss
    let token = ann.log(\.boss?.name, to: log)
    boss = nil
    #expect(log.lines == ["Eve>nil"])
    let next = Person(name: "Fay")
    ann.boss = next
    next.name = "Gay"
    #expect(log.lines == ["Eve>nil", "nil>Fay", "Fay>Gay"])
    token.invalidate()
    withExtendedLifetime(boss) {}
  }

  @Test func `A weak property notifies when its object is deallocated`() {
    let ann = Person(name: "Ann")
    var boss: Person? = Person(name: "Eve")
    ann.boss = boss
    let token = ann.observe(\.boss, options: [.new]) { [log] _, change in
      log.add(change.newValue.map { $0?.name ?? "nil" } ?? "-")
    }
    boss?.name = "Eva"
    boss = nil
    ann.boss = ann
    #expect(log.lines == ["nil", "Ann"])
    token.invalidate()
    withExtendedLifetime(boss) {}
  }

  @Test func `The deallocation of a weakly referenced object calls observers newest first, as a set does`() {
    let ann = Person(name: "Ann")
    let (first, last) = (Watcher(log), Watcher(log))
    ann.addObserver(first, forKeyPath: "boss")
    let tokens = [ann.log(\.boss, [], as: "a ", to: log), ann.log(\.boss?.name, [], as: "b ", to: log)]
    ann.addObserver(last, forKeyPath: "boss.name")
    let named = ann.log(\.boss?.name, [], as: "c ", to: log)
    var boss: Person? = Person(name: "Eve")
    ann.boss = boss
    #expect(log.take() == ["c ->-", "boss.name ->-", "b ->-", "a ->-", "boss ->-"])
    boss = nil
    #expect(log.take() == ["c ->-", "boss.name ->-", "b ->-", "a ->-", "boss ->-"])
    ann.removeObserver(first, forKeyPath: "boss")
    ann.removeObserver(last, forKeyPath: "boss.name")
    withExtendedLifetime((tokens, named, boss)) {}
  }

  @Test func `An observer of an element's deallocation may read the collection that contained it`() {
    nonisolated(unsafe) let shelf = Shelf()
    do {
      let book = Person(name: "Book")
      shelf.favorite = book
      shelf.books = [book, Person(name: "Other")]
    }
    let token = shelf.observe(\.favorite?.name, options: [.old, .new]) { [log] _, _ in log.add("\(shelf.books.count)")
    }
    shelf.books = []
    #expect(log.lines == ["0"])
    token.invalidate()
  }

  @Test func `Observing an expression that reads nothing observable is reported, and harmless`() {
    let token = document.observe(\.hash) { _, _ in }
    #expect(document.observationInfo != nil)
    token.invalidate()
  }

  @Test func `An object that is deallocated because it was replaced is one change`() {
    document.author = Person(name: "Ann")
    let token = document.log(\.author?.name, to: log)
    document.author = Person(name: "Bob")
    #expect(log.lines == ["Ann>Bob"])
    token.invalidate()
  }

  @Test func `A path does not extend the lifetime of the observed object`() {
    weak var person: Person?
    document.author = Person(name: "Ann")
    person = document.author
    let token = document.log(\.author?.name, to: log)
    document.author = nil
    #expect(person == nil)
    token.invalidate()
  }

  @Test func `The root may be deallocated while its path is observed, which releases the rest of the path`() {
    let ann = Person(name: "Ann")
    var token: NSKeyValueObservation?
    do {
      let document = Document()
      document.author = ann
      token = document.log(\.author?.name, to: log)
      #expect(ann.observationInfo != nil)
    }
    #expect(ann.observationInfo == nil)
    ann.name = "silent"
    #expect(log.lines.isEmpty)
    token?.invalidate()
  }

  @Test func `A computed property notifies of changes of everything it reads`() {
    let token = document.log(\.summary, to: log)
    document.title = "T"
    document.author = Person(name: "Ann")
    document.author?.name = "Bob"
    document.isFavorite = true
    #expect(log.lines == [" by ?>T by ?", "T by ?>T by Ann", "T by Ann>T by Bob"])
    token.invalidate()
  }

  @Test func `The reads of a computed property may change with its value`() {
    let token = document.log(\.headline, to: log)
    document.title = "unread"
    #expect(log.take().isEmpty)
    document.isFavorite = true
    document.title = "read"
    document.isFavorite = false
    document.title = "unread again"
    #expect(log.take() == ["none>unread by ?", "unread by ?>read by ?", "read by ?>none"])
    token.invalidate()
  }

  @Test func `A declared dependency notifies although nothing is read`() {
    document.author = Person(name: "Ann")
    let token = document.log(\.revision, to: log)
    document.scratch = 1
    document.title = "T"
    document.scratch = 2
    document.author?.age = 40
    #expect(log.lines == ["0>1", "1>2"])
    token.invalidate()
  }

  @Test func `Announcing a computed property manually notifies its observers`() {
    let token = document.log(\.revision, [.new], to: log)
    document.willChangeValue(for: \.revision)
    document.scratch = 7
    document.didChangeValue(for: \.revision)
    #expect(log.lines == ["->7"])
    token.invalidate()
  }

  @Test func `Initial and prior work through paths`() {
    document.author = Person(name: "Ann")
    let token = document.log(\.author?.name, [.initial, .prior, .old, .new], to: log)
    document.author?.name = "Bob"
    #expect(log.lines == ["->Ann", "prior Ann>-", "Ann>Bob"])
    token.invalidate()
  }

  @Test func `Two paths through one object both notify, and end independently`() {
    let ann = Person(name: "Ann")
    document.author = ann
    document.reviewer = ann
    let author = document.log(\.author?.name, as: "a ", to: log)
    let reviewer = document.log(\.reviewer?.name, as: "r ", to: log)
    ann.name = "Bob"
    author.invalidate()
    ann.name = "Cid"
    #expect(log.lines == ["r Ann>Bob", "a Ann>Bob", "r Bob>Cid"])
    reviewer.invalidate()
  }

  @Test func `An inherited property in a path from a subclass is found`() {
    let manager = Manager(name: "Eve")
    manager.partner = Person(name: "Ann")
    let token = manager.log(\.partner?.name, to: log)
    manager.partner?.name = "Bob"
    #expect(log.lines == ["Ann>Bob"])
    token.invalidate()
  }

  @Test func `Properties that a callback reads are not dependencies`() {
    nonisolated(unsafe) let other = Document()
    let token = document.log(\.summary, to: log)
    let reading = document.observe(\.title) { _, _ in _ = other.title }
    document.title = "x"
    other.title = "y"
    #expect(log.lines == [" by ?>x by ?"])
    withExtendedLifetime((token, reading)) {}
  }

  @Test func `A key path through what is not observed has the names of its properties in reports`() {
    func names(of token: NSKeyValueObservation, from line: Int) -> [String] {
      let all = ObservationGraph.current().observations
      return all.filter {
        $0.registeredAt?.file == "ObservingTests/KeyPathTests.swift" && $0.registeredAt?.line == line
      }.map(\.keyPath)
    }
    document.author = Person(name: "Ann")
    let count = document.observe(\.author?.name.count) { _, _ in }
    #expect(names(of: count, from: #line - 1) == ["author.name.count"])
    let silent = document.observe(\.author!.partner?.boss?.name.utf8.count) { _, _ in }
    #expect(names(of: silent, from: #line - 1) == ["author.partner.boss.name.utf8.count"])
  }
}
