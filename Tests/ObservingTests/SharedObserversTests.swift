// Shared observers of many objects.
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
    let shared = NSKeyValueSharedObservers(observableClass: Document.self)
    for key in ["title", "isFavorite"] { shared.addObserver(watcher, forKey: key, options: [.old, .new]) }
    let snapshot = shared.snapshot()
    shared.addObserver(watcher, forKey: "pages")  // is not part of the snapshot
    for document in documents { document.setSharedObservers(snapshot) }
    documents[0].title = "a"
    documents[2].isFavorite = true
    documents[2].pages = [1]
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
}
