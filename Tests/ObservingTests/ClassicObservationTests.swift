// The classic callback: what its change dictionary contains, and the fault if no class handles it.
import KeyValueObserving
import Testing

/// Does something, and passes each change to its superclass twice, which does not handle it.
private final class PassingOn: KeyValueObject {
  var before = {}

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    before()
    for _ in 0..<2 { super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context) }
  }
}

@Suite("Observing with the classic callback")
struct ClassicObservationTests {
  let document = Document()

  @Test func `The change dictionary always has the kind, and values only if requested; nil is NSNull`() {
    let watcher = Watcher()
    document.addObserver(watcher, forKeyPath: "title")
    document.title = "a"
    document.removeObserver(watcher, forKeyPath: "title")
    document.addObserver(watcher, forKeyPath: "title", options: [.old, .new, .prior, .initial])
    document.title = "b"
    document.removeObserver(watcher, forKeyPath: "title")
    document.addObserver(watcher, forKeyPath: "author.name", options: [.old, .new])
    document.author = Person(name: "Ann")
    document.removeObserver(watcher, forKeyPath: "author.name")
    #expect(
      watcher.log.lines == ["title ->-", "title ->a", "title prior a>-", "title a>b", "author.name <null>>Ann"])
  }

  @Test func `Each unhandled change is a fault with its observation as in the graph, or with none outside of a change`()
  {
    let (passing, nested) = (PassingOn(), Watcher())
    passing.before = { [document] in document.pages += [1] }
    document.addObserver(passing, forKeyPath: "title")
    let registered = #line - 1
    document.addObserver(nested, forKeyPath: "pages")
    let known = ObservationGraph.current().observations.filter {
      $0.registeredAt?.file == "ObservingTests/ClassicObservationTests.swift" && $0.registeredAt?.line == registered
    }
    var raised = faults { document.title = "a" }
    let id = String(known.first?.id.rawValue ?? 0, radix: 16)
    #expect(known.count == 1 && raised.allSatisfy { $0.json.contains("\"id\":\"0x\(id)\"") })
    document.removeObserver(passing, forKeyPath: "title")
    document.removeObserver(nested, forKeyPath: "pages")
    passing.before = {}
    raised += faults { passing.observeValue(forKeyPath: "title", of: document, change: nil, context: nil) }
    #expect(raised.map(\.code) == [22, 22, 22, 22])
    #expect(raised.map { $0.observations.map(\.keyPath) } == [["title"], ["title"], [], []])
  }
}
