// Sources of several key paths, and of string key paths.
#if Macros
  import Foundation
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("The source of several key paths")
  struct SourceOfSeveralTests {
    private let document = Document()
    private let log = Log<String>()

    @Test func `has the tuple of their values, before and after a change of one of them`() {
      document.source(\.title, \.pages, \.author?.name, \.summary).onChange(for: log) { log, old, new in
        log.add("\(old.0) \(old.1) \(old.2 ?? "-") \(old.3) -> \(new.0) \(new.1) \(new.2 ?? "-") \(new.3)")
      }
      document.title = "A"
      document.author = Author("X")
      #expect(log.all == [" 0 -  (0) -> A 0 - A (0)", "A 0 - A (0) -> A 0 X A (0)"])
    }

    @Test func `does not notify of equal values, also if it is observed with observe`() {
      document.source(\.title, \.pages).observe(for: log) { log, _ in log.add("called") }
      document.title = ""
      document.pages = 0
      #expect(log.all == [])
      document.pages = 1
      #expect(log.all == ["called"])
    }

    @Test func `notifies once of what is changed together, by the program or by bindings`() {
      let other = Document()
      other.source(\.pages).bind(to: document, \.pages)
      other.source(\.pages).map { "\($0) pages" }.bind(to: document, \.title)
      document.source(\.title, \.pages).onChange(for: log) { log, _, new in log.add("\(new.0), \(new.1)") }
      other.pages = 1
      withCoalescedChanges {
        document.title = "A"
        document.pages = 2
      }
      #expect(log.all == ["1 pages, 1", "A, 2"])
    }

    @Test func `notifies of what is announced manually, and of what is declared to depend on it`() {
      let gauge = Gauge()
      gauge.source(\.level, \.text).onChange(for: log) { log, _, new in log.add("\(new)") }
      gauge.level = 1
      #expect(log.all == [#"(1, "1")"#])
    }

    @Test func `ends with its object, of which it keeps nothing`() {
      var document: Document? = Document()
      document!.author = Author("X")
      let source = document!.source(\.author, \.title)
      weak let author = document!.author
      let token = source.observe(options: [.old, .new]) { _ in }
      document!.title = "A"
      #expect(source.value?.1 == "A")
      document!.author = nil
      #expect(author == nil)
      document = nil
      #expect(source.value == nil && !token.isActive)
      #expect(!source.observe { _ in }.isActive)
    }

    @Test func `refuses .prior and .distinct with KVO0008, and key paths that can never notify with KVO0011`() {
      for options: NSKeyValueObservingOptions in [.prior, .distinct] {
        #expect(faults { document.source(\.title, \.pages).observe(options: options, for: log) { _, _ in } } == [8])
      }
      let gauge = Gauge()
      #expect(faults { gauge.source(\.fixed, \.fixed).onChange(for: log) { _, _, _ in } } == [11])
    }

    @Test func `is named by its key paths in reports`() {
      document.source(\.title, \.author?.name).observe(for: log) { _, _ in }
      #expect(ObservationGraph.current().observations.contains { $0.keyPath == "title, author.name" })
    }

    @Test("has the isolation of the code that observes, with any number of key paths")
    @MainActor
    func isolation() async {
      let (shared, panel) = (SharedDocument(), Panel())
      shared.source(\.title, \.pages).onChange(for: panel) { me, _, new in me.log.append("\(new.0) \(new.1)") }
      await Task.detached { shared.title = "A" }.value
      shared.pages = 1
      while panel.log.count < 2 { await Task.yield() }
      #expect(panel.log == ["A 0", "A 1"])
    }
  }

  @Suite("The source of a string key path")
  struct SourceStringTests {
    private let document = Document()
    private let log = Log<String>()

    @Test("has the values of its type, converted as key-value coding does, and leaves out equal ones with onChange")
    func values() {
      document.source("title", as: String.self).onChange(initial: true, for: log) { log, old, new in
        log.add("\(old)>\(new)")
      }
      for title in ["a", "a", "b"] { document.title = title }
      document.source("pages", as: Double.self).onChange(for: log) { log, old, new in log.add("\(old)>\(new)") }
      document.pages = 2
      #expect(log.all == [">", ">a", "a>b", "0.0>2.0"])
    }

    @Test func `has the value told last as the old one, also if an observer of the last object sets it again`() {
      let author = Author("A")
      document.author = author
      document.source("author.name").observe(options: [.old, .new], for: log) { log, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      document.source("author.name", as: String?.self).onChange(for: log) { log, old, new in log.add("\(old!)>\(new!)")
      }
      let token = author.observe(\.name) { author, _ in if author.name == "B" { author.name = "C" } }
      author.name = "B"
      #expect(log.all == ["A>C", "A>C"] && token.isActive)
    }

    @Test func `has nil where a link of the path is nil, if its type is an optional`() {
      document.source("author.name", as: String?.self).onChange(for: log) { log, old, new in
        log.add("\(old ?? "-")>\(new ?? "-")")
      }
      document.author = Author("")
      document.author?.name = "Ann"
      document.author = nil
      #expect(log.all == ["->", ">Ann", "Ann>-"])
    }

    @Test func `can be read, bound, delivered and combined, also without a type`() {
      let (copy, queue) = (Document(), DispatchQueue(label: "serial"))
      let title = document.source("title", as: String.self)
      KeyValueSource.combineLatest(title, document.source("tags", as: [String].self)) { "\($0) \($1.count)" }
        .bind(to: copy, \.title)
      let token = title.delivered(on: queue).coalesced().onChange { [log] old, new in log.add("\(old)>\(new)") }
      document.title = "a"
      document.mutableArrayValue(for: \.tags).append("x")
      queue.sync {}
      #expect(title.value == "a" && copy.title == "a 1" && log.all == [">a"])
      document.source("author.name").observe(options: [.old, .new], for: log) { log, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      document.author = Author("Ann")
      #expect(log.all.last == "<null>>Ann")
      token.invalidate()
    }

    @Test func `has changes of elements and .prior, as a typed key path; onChange has whole values`() {
      let tags = document.source("tags", as: [String].self)
      tags.observe(options: [.old, .new, .prior], for: log) { log, change in
        let indexes = change.indexes.map { Array($0) } ?? []
        log.add("\(change.isPrior) \(change.kind) \(indexes) \(change.oldValue ?? []) \(change.newValue ?? [])")
      }
      document.mutableArrayValue(for: \.tags).append("x")
      #expect(log.all == ["true insertion [0] [] []", #"false insertion [0] [] ["x"]"#])
      document.stopObserving("tags", for: log)
      let wholes: Log<String> = Log()
      document.source("tags").onChange(for: wholes) { $0.add("\($1)>\($2)") }
      document.source("tags").map { "\($0)" }.onChange(for: wholes) { $0.add($2) }
      document.source("tags", as: (any Sendable).self).onChange(for: wholes) { $0.add("sendable \($2)") }
      document.source("tags").observe(options: [.old, .new], for: log) { $0.add("\($1.kind) \($1.newValue!)") }
      document.mutableArrayValue(for: \.tags).append("y")
      #expect(Set(wholes.all) == [#"["x"]>["x", "y"]"#, #"["x", "y"]"#, #"sendable ["x", "y"]"#])
      #expect(log.all.last == #"insertion ["y"]"#)
    }

    /// ThreadSanitizer would find the read.
    @Test func `does not read a property when it is observed: another thread may be setting it`() {
      let shared = SharedDocument()
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        for pages in 0..<100 {
          if thread == 0 {
            shared.pages = pages
          } else {
            shared.source("pages", as: Int.self).observe { _ in }.invalidate()
          }
        }
      }
      #expect(shared.pages == 99)
    }

    @Test func `delivers a value without the old one, if that had another type`() {
      document.source("author.name", as: String.self).observe(options: [.old, .new], for: log) { log, change in
        log.add("\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      let faults = raised {
        document.author = Author("Ann")
        document.author?.name = "Bob"
      }
      #expect(faults.isEmpty && log.all == ["->Ann", "Ann>Bob"])
    }

    @Test func `KVO0026, a value of another type: the observer is not notified, and the help says what to write`() {
      document.source("title", as: Int.self).observe(options: .new, for: log) { log, _ in log.add("called") }
      let faults = raised { document.title = "a" }
      #expect(faults.map(\.code) == [26] && log.all.isEmpty)
      #expect(faults.first?.help == "write source(\"title\", as: String.self)")
    }

    @Test func `KVO0010, a key path that cannot be observed: nothing is registered`() {
      expectFault(.malformedKeyPath) { #expect(!document.source("author..name").observe { _ in }.isActive) }
    }
  }

  @KeyValueObservable
  private final class Gauge {
    @NotObserved private var stored = 0
    var level: Int {
      get { stored }
      set {
        willChangeValue(for: \.level)
        stored = newValue
        didChangeValue(for: \.level)
      }
    }
    var text: String { String(stored) }
    var fixed: Int { 1 }
    class func keyPathsForValuesAffectingText() -> Set<String> { ["level"] }
  }
#endif
