// Observation of a stored property with a closure: the delivered changes, their time and order, and the lifetime.
import Foundation
import KeyValueObserving
import Testing

@Suite("Observing a stored property")
struct TypedObservationTests {
  let document = Document()
  let log = Log()

  @Test func `A change contains the requested values, and no others`() {
    let tokens = [
      document.log(\.title, [], as: "none ", to: log), document.log(\.title, [.old], as: "old ", to: log),
      document.log(\.title, [.new], as: "new ", to: log), document.log(\.title, as: "both ", to: log),
    ]
    document.title = "a"
    #expect(log.lines == ["both >a", "new ->a", "old >-", "none ->-"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `An equal value is a change`() {
    let token = document.log(\.title, to: log)
    document.title = ""
    document.title = ""
    #expect(log.lines == [">", ">"])
    token.invalidate()
  }

  @Test func `The initial notification comes before registration returns, with the present value only`() {
    document.title = "t"
    let token = document.log(\.title, [.initial, .old, .new], to: log)
    #expect(log.lines == ["->t"])
    let silent = document.log(\.title, [.initial], to: log)
    #expect(log.lines == ["->t", "->-"])
    withExtendedLifetime((token, silent)) {}
  }

  @Test func `The prior notification has no new value, and the property still has the old one`() {
    let token = document.observe(\.title, options: [.prior, .old, .new]) { [log] document, change in
      log.add("\(change.isPrior) \(change.oldValue ?? "-") \(change.newValue ?? "-") \(document.title)")
    }
    document.title = "x"
    #expect(log.lines == ["true  - ", "false  x x"])
    token.invalidate()
  }

  @Test func `Observers are notified newest first, and before a change oldest first`() {
    let tokens = ["a", "b", "c"].map { document.log(\.title, [.prior], as: $0, to: log) }
    document.title = "x"
    #expect(log.lines == ["aprior ->-", "bprior ->-", "cprior ->-", "c->-", "b->-", "a->-"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `After a change made by another observer, later observers see the newest value`() {
    let first = document.log(\.title, [.new], as: "first ", to: log)
    let changing = document.observe(\.title, options: [.new]) { document, change in
      if change.newValue == "a" { document.title = "b" }
    }
    document.title = "a"
    #expect(log.lines == ["first ->b", "first ->b"])
    withExtendedLifetime((first, changing)) {}
  }

  @Test func `A change in place is one change`() {
    let token = document.log(\.pages, to: log)
    document.pages.append(1)
    document.pages[0] += 1
    document.pages.removeAll()
    #expect(log.lines == ["[]>[1]", "[1]>[2]", "[2]>[]"])
    token.invalidate()
  }

  @Test func `A callback may read and change the property while it is changed in place`() {
    let token = document.observe(\.pages, options: [.new]) { [log] document, change in
      log.add("\(document.pages.count)")
      if document.pages.count < 3 { document.pages.append(0) }
    }
    document.pages.append(1)
    #expect(document.pages == [1, 0, 0])
    #expect(log.lines == ["1", "2", "3"])
    token.invalidate()
  }

  @Test func `After invalidate nothing is delivered, and calling it again does nothing`() {
    let token = document.log(\.title, to: log)
    token.invalidate()
    token.invalidate()
    document.title = "x"
    #expect(log.lines.isEmpty)
    #expect(document.observationInfo == nil)
  }

  @Test func `Releasing the token ends the observation`() {
    var token: NSKeyValueObservation? = document.log(\.title, to: log)
    #expect(document.observationInfo != nil)
    token = nil
    document.title = "x"
    #expect(log.lines.isEmpty && token == nil)
  }

  @Test func `An observer may end its own observation, or a later one, in its callback`() {
    final class Tokens: @unchecked Sendable { var all: [NSKeyValueObservation] = [] }
    let tokens = Tokens()
    tokens.all.append(document.log(\.title, as: "older ", to: log))
    tokens.all.append(
      document.observe(\.title) { [log] _, _ in
        log.add("newer")
        for token in tokens.all { token.invalidate() }
      })
    document.title = "x"
    document.title = "y"
    #expect(log.lines == ["newer"])
  }

  @Test func `An observer added in a callback is first notified of the next change`() {
    final class Tokens: @unchecked Sendable { var added: NSKeyValueObservation? }
    let tokens = Tokens()
    let token = document.observe(\.title) { [log] document, _ in
      if tokens.added == nil { tokens.added = document.log(\.title, to: log) }
    }
    document.title = "a"
    #expect(log.take().isEmpty)
    document.title = "b"
    #expect(log.take() == ["a>b"])
    token.invalidate()
  }

  @Test func `If the object is deallocated, the token does nothing, and the closure is released once`() {
    final class Witness: Sendable {
      let log: Log
      init(_ log: Log) { self.log = log }
      deinit { log.add("closure released") }
    }
    weak var weakDocument: Document?
    let token: NSKeyValueObservation
    do {
      let document = Document()
      weakDocument = document
      let witness = Witness(log)
      token = document.observe(\.title) { _, _ in withExtendedLifetime(witness) {} }
    }
    #expect(weakDocument == nil)
    #expect(log.lines == ["closure released"])
    token.invalidate()
    #expect(log.lines == ["closure released"])
  }

  @Test func `An object that observes itself is still deallocated`() {
    final class Holder: @unchecked Sendable { var token: NSKeyValueObservation? }
    weak var weakPerson: Person?
    let holder = Holder()
    do {
      let person = Person(name: "Ann")
      weakPerson = person
      holder.token = person.observe(\.name) { person, _ in person.age += 1 }
      person.name = "Bob"
      #expect(person.age == 1)
    }
    #expect(weakPerson == nil)
  }

  @Test func `Only the observed object notifies, and only for the observed property`() {
    let token = document.log(\.title, to: log)
    Document().title = "x"
    document.isFavorite = true
    document.scratch = 3
    #expect(log.lines.isEmpty)
    token.invalidate()
  }

  @Test func `The object in a change is the observed one`() {
    let identity = ObjectIdentifier(document)
    let token = document.observe(\.title) { [log] object, change in
      log.add("\(ObjectIdentifier(object) == identity) \(change.kind) \(String(describing: change.indexes))")
    }
    document.title = "x"
    #expect(log.lines == ["true setting nil"])
    token.invalidate()
  }

  @Test func `A property observed through a subclass is the same property`() {
    let manager = Manager(name: "Eve")
    let token = manager.log(\.name, to: log)
    let asPerson = (manager as Person).log(\.name, as: "p ", to: log)
    manager.name = "Eva"
    #expect(log.lines == ["p Eve>Eva", "Eve>Eva"])
    withExtendedLifetime((token, asPerson)) {}
  }

  @Test func `A change can be created for tests`() {
    let change = NSKeyValueObservedChange(kind: .insertion, newValue: [1], indexes: [0])
    #expect(change.kind == .insertion && change.newValue == [1] && change.oldValue == nil && !change.isPrior)
    #expect(change.indexes == IndexSet(integer: 0))
  }
}
