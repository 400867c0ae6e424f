// Observation of a stored property with a closure: the delivered changes, and the lifetime of token, object and closure.
import Foundation
import KeyValueObserving
import Testing

@Suite("Observing a stored property")
struct TypedObservationTests {
  let document = Document()
  let log = Log()

  @Test func `A change contains the requested values, and no others; the observer registered last is notified first`() {
    let tokens = [
      document.log(\.title, [], as: "none ", to: log), document.log(\.title, [.old], as: "old ", to: log),
      document.log(\.title, [.new], as: "new ", to: log), document.log(\.title, as: "both ", to: log),
    ]
    document.title = "a"
    Document().title = "of another object"
    document.isFavorite = true
    #expect(log.lines == ["both >a", "new ->a", "old >-", "none ->-"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `The initial notification comes before registration returns, and a prior one before the change`() {
    document.title = "t"
    let token = document.observe(\.title, options: [.initial, .prior, .old, .new]) { [log] document, change in
      log.add("\(change.isPrior) \(change.oldValue ?? "-") \(change.newValue ?? "-") \(document.title)")
    }
    #expect(log.take() == ["false - t t"])
    document.title = "x"
    #expect(log.lines == ["true t - t", "false t x x"])
    token.invalidate()
  }

  @Test func `A change in place is one change, and an observer may read and change the property meanwhile`() {
    let token = document.log(\.pages, to: log)
    document.pages.append(1)
    document.pages[0] += 1
    document.pages.removeAll()
    #expect(log.take() == ["[]>[1]", "[1]>[2]", "[2]>[]"])
    token.invalidate()
    let changing = document.observe(\.pages, options: [.new]) { [log] document, change in
      log.add("\(document.pages.count)")
      if document.pages.count < 3 { document.pages.append(0) }
    }
    document.pages.append(1)
    #expect(document.pages == [1, 0, 0])
    #expect(log.lines == ["1", "2", "3"])
    changing.invalidate()
  }

  @Test func `An observation ends when its token is invalidated, any number of times, or released`() {
    let token = document.log(\.title, to: log)
    var released: NSKeyValueObservation? = document.log(\.title, to: log)
    #expect(document.observationInfo != nil)
    token.invalidate()
    token.invalidate()
    released = nil
    document.title = "x"
    #expect(log.lines.isEmpty && document.observationInfo == nil && released == nil)
  }

  @Test func `If the object is deallocated, the token does nothing, and the closure is released once`() {
    let living = Count()
    weak var weakDocument: Document?
    let token: NSKeyValueObservation
    do {
      let (document, witness) = (Document(), Witness(in: living))
      weakDocument = document
      token = document.observe(\.title) { _, _ in withExtendedLifetime(witness) {} }
    }
    #expect(weakDocument == nil && living.value == 0)
    token.invalidate()
    #expect(living.value == 0)
  }

  @Test func `A change can be created for tests`() {
    let change = NSKeyValueObservedChange(kind: .insertion, newValue: [1], indexes: [0])
    #expect(change.kind == .insertion && change.newValue == [1] && change.oldValue == nil && !change.isPrior)
    #expect(change.indexes == IndexSet(integer: 0))
  }
}
