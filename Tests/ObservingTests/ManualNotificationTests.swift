// Manual notification: pairs of willChange and didChange.
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

  @Test func `A fault about an announcement by key path names the line of the call`() {
    let tokens = [document.log(\.scratch, to: log), document.log(\.pages, to: log)]
    let first: UInt = #line
    let lines = linesOfFaults {
      document.didChangeValue(for: \.scratch)
      document.willChange(.insertion, valuesAt: [99], for: \.pages)
    }
    #expect(lines == [Int(first) + 2, Int(first) + 3])
    for token in tokens { token.invalidate() }
  }

  #if Macros
    @Test func `A fault about an announcement of a KeyValueObject names the line of the call, too`() {
      let panel = Panel()
      let token = panel.observe(\.revision) { _, _ in }
      let line: UInt = #line + 1
      #expect(linesOfFaults { panel.didChangeValue(for: \.revision) } == [Int(line)])
      token.invalidate()
    }
  #endif

  private func linesOfFaults(in body: () -> Void) -> [Int] {
    nonisolated(unsafe) var lines: [Int] = []
    let handler: @Sendable (KeyValueFault) -> KeyValueFault.Action = { fault in
      lines.append(fault.line)
      return .ignore
    }
    KeyValueFault.withHandler(handler, in: body)
    return lines
  }

  @Test func `Nested pairs of one key each notify`() {
    let token = document.log(\.scratch, to: log)
    document.willChangeValue(forKey: "scratch")
    document.scratch = 1
    document.willChangeValue(forKey: "scratch")
    document.scratch = 2
    document.didChangeValue(forKey: "scratch")
    document.didChangeValue(forKey: "scratch")
    #expect(log.lines == ["1>2", "0>2"])
    token.invalidate()
  }

  @Test func `A setter within a pair notifies too`() {
    let token = document.log(\.title, to: log)
    document.willChangeValue(forKey: "title")
    document.title = "a"
    document.didChangeValue(forKey: "title")
    #expect(log.lines == [">a", ">a"])
    token.invalidate()
  }

  @Test func `Pairs of different keys may interleave`() {
    let token = document.log(\.title, [], as: "title ", to: log)
    let other = document.log(\.isFavorite, [], as: "favorite ", to: log)
    document.willChangeValue(forKey: "title")
    document.willChangeValue(forKey: "isFavorite")
    document.didChangeValue(forKey: "title")
    document.didChangeValue(forKey: "isFavorite")
    #expect(log.lines == ["title ->-", "favorite ->-"])
    withExtendedLifetime((token, other)) {}
  }

  @Test func `Did without will has no effect, and later changes notify`() {
    let token = document.log(\.title, to: log)
    document.didChangeValue(forKey: "title")
    document.title = "a"
    #expect(log.lines == [">a"])
    token.invalidate()
  }

  @Test func `Will without did does not suppress later notifications`() {
    let token = document.log(\.title, to: log)
    document.willChangeValue(forKey: "title")
    document.title = "a"
    document.title = "b"
    #expect(log.lines == [">a", "a>b"])
    document.didChangeValue(forKey: "title")
    token.invalidate()
  }

  @Test func `A manual key notifies by announcement only`() {
    let token = document.log(\.position, to: log)
    document.position = (1, 1)
    #expect(log.take().isEmpty)
    document.willChangeValue(for: \.position)
    document.position = (2, 2)
    document.didChangeValue(for: \.position)
    #expect(log.take() == ["(x: 1, y: 1)>(x: 2, y: 2)"])
    token.invalidate()
  }

  @Test func `Observers registered or removed between will and did are not notified of that change`() {
    let early = document.log(\.scratch, as: "early ", to: log)
    document.willChangeValue(for: \.scratch)
    let late = document.log(\.scratch, as: "late ", to: log)
    early.invalidate()
    document.didChangeValue(for: \.scratch)
    #expect(log.lines.isEmpty)
    late.invalidate()
  }

  @Test func `Insertions, removals and replacements include kind, indexes and elements`() {
    document.pages = [10, 20]
    let token = document.observe(\.pages, options: [.old, .new]) { [log] _, change in
      guard let indexes = change.indexes else { return }
      log.add("\(change.kind) \(Array(indexes)) \(change.oldValue ?? []) \(change.newValue ?? [])")
    }
    document.willChange(.insertion, valuesAt: [0, 3], for: \.pages)
    document.pages = [5, 10, 20, 30]
    document.didChange(.insertion, valuesAt: [0, 3], for: \.pages)
    document.willChange(.replacement, valuesAt: [1], for: \.pages)
    document.pages[1] = 11
    document.didChange(.replacement, valuesAt: [1], for: \.pages)
    document.willChange(.removal, valuesAt: [0, 1], for: \.pages)
    document.pages = [20, 30]
    document.didChange(.removal, valuesAt: [0, 1], for: \.pages)
    #expect(
      log.lines == ["insertion [0, 3] [] [5, 30]", "replacement [1] [10] [11]", "removal [0, 1] [5, 11] []"])
    token.invalidate()
  }

  @Test func `Insertions into a manual property are announced with kind and indexes`() {
    let token = document.observe(\.drafts, options: [.old, .new]) { [log] _, change in
      log.add("\(change.kind) \(change.indexes.map(Array.init) ?? []) \(change.newValue ?? [])")
    }
    document.willChange(.insertion, valuesAt: [0], for: \.drafts)
    document.drafts.append("a")
    document.didChange(.insertion, valuesAt: [0], for: \.drafts)
    #expect(log.lines == ["insertion [0] [\"a\"]"])
    token.invalidate()
  }

  @Test func `KVO0033, indexes out of range: nobody is notified, and nothing traps`() {
    let token = document.observe(\.pages, options: [.new, .old]) { [log] _, change in
      log.add("\(change.newValue ?? [])")
    }
    expectFaults([.badIndexes, .badIndexes, .badIndexes]) {
      for kind in [NSKeyValueChange.insertion, .removal, .replacement] {
        document.willChange(kind, valuesAt: [7], for: \.pages)
        document.didChange(kind, valuesAt: [7], for: \.pages)
      }
    }
    #expect(log.lines.isEmpty)
    token.invalidate()
  }

  @Test func `KVO0033 begins behind the last element, or behind the elements that an insertion adds`() {
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
    #expect(log.lines == ["[1]", "[0, 1]", "[2]", "[0, 3]"])
    expectFaults([.badIndexes, .badIndexes, .badIndexes, .badIndexes]) {
      announce(.removal, [2])
      announce(.replacement, [0, 2])
      announce(.insertion, [3])
      announce(.insertion, [0, 4])
    }
    #expect(log.lines.count == 4)
    token.invalidate()
  }

  @Test func `KVO0033, different indexes in didChange: the announced ones are delivered`() {
    document.pages = [1, 2]
    let token = document.observe(\.pages, options: [.old]) { [log] _, change in
      log.add("\(change.indexes.map(Array.init) ?? [])")
    }
    expectFault(.badIndexes) {
      document.willChange(.removal, valuesAt: [0], for: \.pages)
      document.didChange(.removal, valuesAt: [1], for: \.pages)
    }
    #expect(log.lines == ["[0]"])
    token.invalidate()
  }

  @Test func `KVO0026, indexes of a property that is no list: nobody is notified, and the fault names the line`() {
    let scratch = document.log(\.scratch, to: log)
    nonisolated(unsafe) var raised: [String] = []
    let handler: @Sendable (KeyValueFault) -> KeyValueFault.Action = { fault in
      raised.append("\(fault.code) \(fault.line)")
      return .ignore
    }
    let first: UInt = #line
    KeyValueFault.withHandler(handler) {
      document.willChange(.insertion, valuesAt: [0], for: \.scratch)
      document.didChange(.insertion, valuesAt: [0], for: \.scratch)
      document.willChange(.removal, valuesAt: [0], forKey: "scratch")
      document.didChange(.removal, valuesAt: [0], forKey: "scratch")
    }
    #expect(raised == ["26 \(first + 2)", "26 0"] && log.lines.isEmpty)
    scratch.invalidate()
  }

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
