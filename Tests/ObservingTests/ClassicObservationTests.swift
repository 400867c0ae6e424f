// The classic API: one callback method, string key paths, contexts, change dictionaries.
import Foundation
import KeyValueObserving
import Testing

private func makeContext() -> UnsafeMutableRawPointer { .allocate(byteCount: 1, alignment: 1) }

/// Logs `keyPath old>new` and the other entries of the change dictionary.
private nonisolated(unsafe) let baseContext = makeContext()
private nonisolated(unsafe) let subContext = makeContext()

private class BaseWatcher: KeyValueObject {
  let log: Log
  init(_ log: Log) { self.log = log }

  func watch(_ document: Document) {
    document.addObserver(self, forKeyPath: "title", options: [.new], context: baseContext)
  }
  func unwatch(_ document: Document) { document.removeObserver(self, forKeyPath: "title", context: baseContext) }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == baseContext else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    log.add("base")
  }
}

private final class SubWatcher: BaseWatcher {
  override func watch(_ document: Document) {
    super.watch(document)
    document.addObserver(self, forKeyPath: "title", options: [.new], context: subContext)
  }
  override func unwatch(_ document: Document) {
    document.removeObserver(self, forKeyPath: "title", context: subContext)
    super.unwatch(document)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == subContext else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    log.add("sub")
  }
}

@Suite("Observing with the classic callback")
struct ClassicObservationTests {
  let document = Document()
  let log = Log()

  @Test func `The change dictionary always has the kind, and values only if requested`() {
    let watcher = Watcher(log)
    document.addObserver(watcher, forKeyPath: "title")
    document.title = "a"
    document.removeObserver(watcher, forKeyPath: "title")
    document.addObserver(watcher, forKeyPath: "title", options: [.old, .new, .prior, .initial])
    document.title = "b"
    document.removeObserver(watcher, forKeyPath: "title")
    document.title = "c"
    #expect(log.lines == ["title ->-", "title ->a", "title prior a>-", "title a>b"])
  }

  @Test func `A nil is present as NSNull`() {
    let watcher = Watcher(log)
    document.addObserver(watcher, forKeyPath: "author.name", options: [.old, .new])
    document.author = Person(name: "Ann")
    document.author?.name = "Bob"
    document.author = nil
    document.removeObserver(watcher, forKeyPath: "author.name")
    #expect(log.lines == ["author.name <null>>Ann", "author.name Ann>Bob", "author.name Bob><null>"])
  }

  @Test func `Computed properties can be observed by name`() {
    let watcher = Watcher(log)
    document.addObserver(watcher, forKeyPath: "summary", options: [.new])
    document.title = "T"
    document.removeObserver(watcher, forKeyPath: "summary")
    #expect(log.lines == ["summary ->T by ?"])
  }

  @Test func `Different contexts in a class hierarchy distinguish its observations`() {
    let watcher = SubWatcher(log)
    watcher.watch(document)
    document.title = "x"
    #expect(log.take() == ["sub", "base"])
    watcher.unwatch(document)
    document.title = "y"
    #expect(log.take().isEmpty)
    #expect(document.observationInfo == nil)
  }

  @Test func `Registering twice notifies twice, and each removal removes one, the newest first`() {
    let watcher = Watcher(log)
    document.addObserver(watcher, forKeyPath: "title", options: [.old])
    document.addObserver(watcher, forKeyPath: "title", options: [.new])
    document.title = "a"
    #expect(log.take() == ["title ->a", "title >-"])
    document.removeObserver(watcher, forKeyPath: "title")
    document.title = "b"
    #expect(log.take() == ["title a>-"])
    document.removeObserver(watcher, forKeyPath: "title")
  }

  @Test func `Neither the object nor the observer retains the other`() {
    weak var weakWatcher: Watcher?
    weak var weakDocument: Document?
    do {
      let watcher = Watcher(log)
      let document = Document()
      (weakWatcher, weakDocument) = (watcher, document)
      document.addObserver(watcher, forKeyPath: "author.name", options: [.new])
      document.removeObserver(watcher, forKeyPath: "author.name")
    }
    #expect(weakWatcher == nil && weakDocument == nil)
  }

  @Test func `An unknown single key is accepted, for manual notification`() {
    let watcher = Watcher(log)
    document.addObserver(watcher, forKeyPath: "nothing")
    document.willChangeValue(forKey: "nothing")
    document.didChangeValue(forKey: "nothing")
    document.removeObserver(watcher, forKeyPath: "nothing")
    #expect(log.lines == ["nothing ->-"])
  }

  @Test func `Insertions and removals include their indexes and elements`() {
    let watcher = Watcher(log)
    document.pages = [1, 2, 3]
    document.addObserver(watcher, forKeyPath: "pages", options: [.old, .new])
    document.willChange(.removal, valuesAt: [0, 2], forKey: "pages")
    document.scratchPages([2])
    document.didChange(.removal, valuesAt: [0, 2], forKey: "pages")
    document.removeObserver(watcher, forKeyPath: "pages")
    #expect(log.lines == ["pages [1, 2, 3]>[2]", "pages [1, 3]>- removal at [0, 2]"])
  }

  @Test func `An unhandled change names the observation that notifies, also after a nested one, or none`() {
    nonisolated(unsafe) var named: [[String?]] = []
    func raising(_ body: () -> Void) {
      KeyValueFault.withHandler { fault in
        named.append(fault.observations.map(\.keyPath))
        return .ignore
      } in: {
        body()
      }
    }
    let (passing, nested) = (PassingOn(), Watcher(log))
    passing.before = { [document] in document.pages += [1] }
    document.addObserver(passing, forKeyPath: "title")
    document.addObserver(nested, forKeyPath: "pages")
    raising { document.title = "a" }
    document.removeObserver(passing, forKeyPath: "title")
    document.removeObserver(nested, forKeyPath: "pages")
    passing.before = {}
    raising { passing.observeValue(forKeyPath: "title", of: document, change: nil, context: nil) }
    #expect(named == [["title"], []])
  }
}

extension Document {
  func scratchPages(_ pages: [Int]) { self.pages = pages }
}

/// Does something, and passes each change to its superclass, which does not handle it.
private final class PassingOn: KeyValueObject {
  var before = {}

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    before()
    super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
  }
}
