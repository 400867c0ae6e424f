// What plain tokens say about their end, and registrations that fail because the object is ending.
import Foundation
import KeyValueObserving
import KeyValueObservingTesting
import Testing

@Suite("The end of a plain token")
struct EndReasonTests {
  let document = Document()
  let log = Log()

  @Test func `Afterwards a token says that it was invalidated, with and without waiting`() {
    let (ended, awaited) = (document.log(\.title, to: log), document.log(\.title, to: log))
    ended.invalidate()
    awaited.invalidateAndWait()
    for token in [ended, awaited] { token.onEnd { [log] reason in log.add("\(reason)") } }
    #expect(log.lines == ["invalidated", "invalidated"])
  }

  @Test func `A token that is invalidated after the death of its object says that the object died`() {
    var document: Document? = Document()
    let (ended, awaited) = (document!.log(\.title, to: log), document!.log(\.title, to: log))
    document = nil
    ended.invalidate()
    awaited.invalidateAndWait()
    for token in [ended, awaited] { token.onEnd { [log] reason in log.add("\(reason)") } }
    #expect(log.lines == ["objectDied", "objectDied"])
  }

  @Test func `The token of a source of several objects says that it was invalidated`() {
    let both = KeyValueSource.merge(document.source(\.title), document.source(\.title))
    let token = both.observe { _ in }
    token.invalidate()
    token.onEnd { [log] reason in log.add("\(reason)") }
    #expect(log.lines == ["invalidated"])
  }

  @Test func `A token of several objects that is invalidated while one of them lives says that it was invalidated`() {
    for diesFirst in [true, false] {
      var mortal: Document? = Document()
      let sources = diesFirst ? (mortal!, document) : (document, mortal!)
      let token = KeyValueSource.merge(sources.0.source(\.title), sources.1.source(\.title)).observe { _ in }
      mortal = nil
      token.invalidate()
      token.onEnd { [log] reason in log.add("\(reason)") }
    }
    #expect(log.lines == ["invalidated", "invalidated"])
  }

  @Test func `A token whose registration was refused says that it is invalidated`() {
    let refused = expectFault(.invalidArgument) {
      document.observe(\.title, options: [.distinct, .prior]) { _, _ in }
    }
    refused.onEnd { [log] reason in log.add("\(reason)") }
    #expect(log.lines == ["invalidated"])
  }

  @Test func `A closure that is given to a token that has ended is called at once and released`() {
    let living = Count()
    let token = document.log(\.title, to: log)
    token.invalidate()
    do {
      let witness = Witness(in: living)
      token.onEnd { [log] _ in log.add("\(living.value) \(witness)") }
    }
    #expect(log.lines.count == 1)
    #expect(living.value == 0)
  }

  @Test func `A token that is stored in an array keeps its observation until it leaves the array`() {
    var tokens: [NSKeyValueObservation] = []
    document.log(\.title, [.new], to: log).store(in: &tokens)
    document.title = "a"
    tokens.removeAll()
    document.title = "b"
    #expect(log.lines == ["->a"])
  }

  @Test func `An object that is being deallocated refuses each observation with KVO0007, and with no other fault`() {
    var document: Document? = Document()
    nonisolated(unsafe) let dying = Unmanaged.passUnretained(document!)
    let token = document!.observe(\.title) { _, _ in }
    token.onEnd { [log] _ in
      let document = dying.takeUnretainedValue()
      let watcher = Watcher(log)
      var refused: [NSKeyValueObservation] = []
      expectFaults([.dyingObject, .dyingObject, .dyingObject, .dyingObject]) {
        document.addObserver(watcher, forKeyPath: "title")
        document.addObserver(watcher, forKeyPath: "nothing")
        refused.append(document.observe(\.title) { _, _ in })
        refused.append(document.observe(\.summary) { _, _ in })
      }
      for token in refused { log.add("\(token.isActive)") }
    }
    document = nil
    #expect(log.lines == ["false", "false"])
    withExtendedLifetime(token) {}
  }
}
