// Manual notification: pairs of willChange and didChange, and the faults about them.
import Foundation
import KeyValueObserving
import KeyValueObservingTesting
import Testing

@Suite("Manual notification")
struct ManualNotificationTests {
  let document = Document()
  let log = Log()

  @Test func `A pair is one change, with the values before and after it`() {
    document.scratch = 1
    let token = document.log(\.scratch, [.old, .new, .prior], to: log)
    document.willChangeValue(for: \.scratch)
    document.scratch = 2
    document.didChangeValue(for: \.scratch)
    #expect(log.lines == ["prior 1>-", "1>2"])
    token.invalidate()
  }

  @Test func `KVO0033, indexes behind the last element, or behind those that an insertion adds: nobody is notified`() {
    document.pages = [1, 2]
    func announce(_ kind: NSKeyValueChange, _ indexes: IndexSet) {
      document.willChange(kind, valuesAt: indexes, for: \.pages)
      document.didChange(kind, valuesAt: indexes, for: \.pages)
    }
    let token = document.observe(\.pages) { [log] _, change in log.add("\(change.indexes.map(Array.init) ?? [])") }
    announce(.removal, [1])
    announce(.replacement, [0, 1])
    announce(.insertion, [2])
    announce(.insertion, [0, 3])
    #expect(log.take() == ["[1]", "[0, 1]", "[2]", "[0, 3]"])
    expectFaults([.badIndexes, .badIndexes, .badIndexes, .badIndexes]) {
      announce(.removal, [2])
      announce(.replacement, [0, 2])
      announce(.insertion, [3])
      announce(.insertion, [0, 4])
    }
    #expect(log.take().isEmpty)
    // Different indexes at the end: those that were announced are delivered.
    expectFault(.badIndexes) {
      document.willChange(.removal, valuesAt: [0], for: \.pages)
      document.didChange(.removal, valuesAt: [1], for: \.pages)
    }
    #expect(log.lines == ["[0]"])
    token.invalidate()
  }

  @Test func `A fault about an announcement by key path names the line of the call`() {
    let tokens = [document.log(\.scratch, to: log), document.log(\.pages, to: log)]
    let first: UInt = #line
    let raised = faults {
      document.didChangeValue(for: \.scratch)
      document.willChange(.insertion, valuesAt: [99], for: \.pages)
      document.willChange(.insertion, valuesAt: [0], for: \.scratch)  // no list
      document.didChange(.insertion, valuesAt: [0], for: \.scratch)
      document.willChange(.removal, valuesAt: [0], forKey: "scratch")
      document.didChange(.removal, valuesAt: [0], forKey: "scratch")
    }
    let found = raised.map { "KVO\($0.code) \($0.line == 0 ? 0 : $0.line - Int(first))" }
    #expect(found == ["KVO28 2", "KVO33 3", "KVO26 4", "KVO26 0"])
    #expect(log.lines.isEmpty)
    for token in tokens { token.invalidate() }
  }

  #if Macros
    @Test func `A KeyValueObject announces changes by hand, and a fault about that names the line of the call, too`() {
      let panel = Panel()
      let token = panel.log(\.revision, to: log)
      panel.willChangeValue(for: \.revision)
      panel.revision = 2
      panel.didChangeValue(for: \.revision)
      #expect(log.lines == ["0>2"])
      let line = #line + 1
      #expect(faults { panel.didChangeValue(for: \.revision) }.map(\.line) == [line])
      token.invalidate()
    }
  #endif

  @Test func `KVO0009, a property of an extension is no key: observers of the one that it reads are not notified`() {
    let title = document.log(\.title, to: log)
    expectFaults([.undefinedKey, .undefinedKey]) {
      document.willChangeValue(for: \.heading)
      document.didChangeValue(for: \.heading)
    }
    #expect(log.lines.isEmpty)
    title.invalidate()
  }
}

extension Document {
  fileprivate var heading: String { title }
}

#if Macros
  @KeyValueObservable
  private final class Panel: KeyValueObject {
    @NotObserved var revision = 0

    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
  }
#endif
