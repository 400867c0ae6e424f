// Shared observers of many objects.
import Foundation
import KeyValueObserving
import KeyValueObservingTesting
import Testing

@Suite("Shared observers")
struct SharedObserversTests {
  private let watcher = Watcher()
  private let documents = (0..<3).map { _ in Document() }

  private func snapshot(_ options: NSKeyValueObservingOptions = [.old, .new]) -> NSKeyValueSharedObserversSnapshot {
    let shared = NSKeyValueSharedObservers(observableClass: Document.self)
    shared.addObserver(watcher, forKey: "title", options: options)
    shared.addObserver(watcher, forKey: "isFavorite", options: options)
    return shared.snapshot()
  }

  @Test func `Each object with a snapshot notifies all its observers`() {
    let snapshot = snapshot()
    for document in documents { document.setSharedObservers(snapshot) }
    documents[0].title = "a"
    documents[2].isFavorite = true
    #expect(watcher.log.lines == ["title >a", "isFavorite false>true"])
  }

  @Test func `A snapshot replaces the previous one, nil removes it, and other observers are not affected`() {
    let document = documents[0]
    let own = Watcher()
    document.addObserver(own, forKeyPath: "title", options: [.new])
    document.setSharedObservers(snapshot())
    document.setSharedObservers(snapshot([]))
    document.title = "a"
    #expect(watcher.log.take() == ["title ->-"])
    document.setSharedObservers(nil)
    document.title = "b"
    #expect(watcher.log.lines.isEmpty && own.log.lines == ["title ->a", "title ->b"])
    document.removeObserver(own, forKeyPath: "title")
    #expect(document.observationInfo == nil)
  }

  @Test func `Observers added after a snapshot are not part of it`() {
    let shared = NSKeyValueSharedObservers(observableClass: Document.self)
    shared.addObserver(watcher, forKey: "title")
    let snapshot = shared.snapshot()
    shared.addObserver(watcher, forKey: "isFavorite")
    documents[0].setSharedObservers(snapshot)
    documents[0].isFavorite = true
    #expect(watcher.log.lines.isEmpty)
  }

  @Test func `The registrations end with the object without a fault, and an object at its address has none`() {
    let snapshot = snapshot()
    for _ in 0..<50 {
      let document = Document()
      #expect(document.observationInfo == nil)
      document.setSharedObservers(snapshot)
      document.setSharedObservers(snapshot)
      document.title = "a"
    }
    #expect(watcher.log.lines.count == 50)
  }

  @Test func `Only stored properties of the class can have shared observers`() {
    expectFaults([.undefinedKey, .undefinedKey, .undefinedKey, .typeMismatch]) {
      let shared = NSKeyValueSharedObservers(observableClass: Document.self)
      shared.addObserver(watcher, forKey: "summary")
      shared.addObserver(watcher, forKey: "author.name")
      shared.addObserver(watcher, forKey: "nothing")
      Person(name: "x").setSharedObservers(shared.snapshot())
    }
  }

  @Test func `Objects of a subclass accept the observers of its superclass`() {
    let shared = NSKeyValueSharedObservers(observableClass: Person.self)
    shared.addObserver(watcher, forKey: "age", options: [.new])
    let manager = Manager(name: "m")
    manager.setSharedObservers(shared.snapshot())
    manager.age = 3
    #expect(watcher.log.lines == ["age ->3"])
  }

  @Test func `Threads that set the observers of one object leave those of one snapshot`() {
    let guarded = Guarded(Document())
    let document = guarded.object
    let snapshots = (0..<4).map { _ in snapshot() }
    onThreads(4) { number in
      for _ in 0..<200 { guarded.object.setSharedObservers(number == 3 ? nil : snapshots[number]) }
    }
    document.setSharedObservers(nil)
    document.title = "a"
    #expect(watcher.log.lines.isEmpty && document.observationInfo == nil)
  }
}
