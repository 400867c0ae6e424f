// What plain tokens say about their end, and registrations that fail because the object is ending.
import KeyValueObserving
import KeyValueObservingTesting
import Testing

@Suite("The end of a plain token")
struct EndReasonTests {
  let document = Document()
  let log = Log()

  @Test(arguments: [false, true])
  func `A token that has ended says why, at once, and releases the closure that asks`(waits: Bool) {
    var (first, mortal): (Document?, Document?) = (Document(), Document())
    let (living, firstToken) = (Count(), first!.log(\.title, to: log))
    let refused = expectFault(.invalidArgument) {
      document.observe(\.title, options: [.distinct, .prior]) { _, _ in }
    }
    let merged = [
      KeyValueSource.merge(mortal!.source(\.title), document.source(\.title)),
      KeyValueSource.merge(document.source(\.title), mortal!.source(\.title)),
      KeyValueSource.merge(document.source(\.title), document.source(\.title)),
    ].map { $0.observe { _ in } }
    (first, mortal) = (nil, nil)
    for token in [document.log(\.title, to: log), firstToken, refused] + merged {
      if waits { token.invalidateAndWait() } else { token.invalidate() }
      let witness = Witness(in: living)
      token.onEnd { [log] reason in withExtendedLifetime(witness) { log.add("\(reason)") } }
    }
    #expect(log.lines == ["invalidated", "objectDied", "invalidated", "invalidated", "invalidated", "invalidated"])
    #expect(living.value == 0)
    withExtendedLifetime((first, mortal)) {}
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
