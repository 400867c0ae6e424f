// Observation of expressions: nested key paths and computed properties, whose objects are replaced or deallocated.
import KeyValueObserving
import Testing

@Suite("Observing key paths and computed properties")
struct KeyPathTests {
  let document = Document()
  let log = Log()

  @Test func `A nested path notifies of changes of its end and of replacements on the path, also by an equal object`() {
    let token = document.log(\.author?.name, to: log)
    let ann = Person(name: "Ann")
    document.author = ann
    ann.name = "Anna"
    document.author = ann
    document.author = Person(name: "Bob")
    ann.name = "detached"
    document.author = nil
    #expect(log.lines == ["nil>Ann", "Ann>Anna", "Anna>Anna", "Anna>Bob", "Bob>nil"])
    #expect(ann.observationInfo == nil)
    token.invalidate()
    #expect(document.observationInfo == nil)
  }

  @Test func `A weak object that is deallocated on the path is a change to nil, with the old value`() {
    var reviewer: Person? = Person(name: "Eve")
    document.reviewer = reviewer
    let token = document.log(\.reviewer?.name, to: log)
    let weakly = document.observe(\.reviewer, options: [.new]) { [log] _, change in
      log.add(change.newValue.map { $0?.name ?? "nobody" } ?? "-")
    }
    reviewer = nil
    #expect(log.take() == ["nobody", "Eve>nil"])
    let next = Person(name: "Fay")
    document.reviewer = next
    next.name = "Gay"
    #expect(log.lines == ["Fay", "nil>Fay", "Fay>Gay"])
    withExtendedLifetime((token, weakly, reviewer)) {}
  }

  @Test func `A path keeps no object on it alive, and the deallocation of its root releases the rest of the path`() {
    weak var person: Person?
    document.author = Person(name: "Ann")
    person = document.author
    let token = document.log(\.author?.name, to: log)
    document.author = nil
    #expect(person == nil)
    token.invalidate()
    #expect(log.take() == ["Ann>nil"])
    let bob = Person(name: "Bob")
    var outliving: NSKeyValueObservation?
    do {
      let document = Document()
      document.author = bob
      outliving = document.log(\.author?.name, to: log)
      #expect(bob.observationInfo != nil)
    }
    #expect(bob.observationInfo == nil)
    bob.name = "silent"
    #expect(log.lines.isEmpty)
    outliving?.invalidate()
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

  @Test func `A declared dependency, and an announcement by hand, notify although nothing is read`() {
    document.author = Person(name: "Ann")
    let token = document.log(\.revision, to: log)
    document.scratch = 1
    document.title = "T"
    document.scratch = 2
    document.author?.age = 40
    #expect(log.take() == ["0>1", "1>2"])
    document.willChangeValue(for: \.revision)
    document.scratch = 7
    document.didChangeValue(for: \.revision)
    #expect(log.lines == ["2>7"])
    token.invalidate()
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
    let silent = document.observe(\.author!.name.utf8.count) { _, _ in }
    #expect(names(of: silent, from: #line - 1) == ["author.name.utf8.count"])
  }
}
