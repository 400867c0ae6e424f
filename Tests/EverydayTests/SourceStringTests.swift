// Sources of string key paths.
#if Macros
  import Foundation
  import KeyValueObserving
  import KeyValueObservingTesting
  import Testing

  @Suite("The source of a string key path")
  struct SourceStringTests {
    private let document = Document()
    private let log = Log<String>()

    @Test func `has the values of its type, and leaves out equal ones with onChange`() {
      document.source("title", as: String.self).onChange(initial: true, for: log) { log, old, new in
        log.add("\(old)>\(new)")
      }
      for title in ["a", "a", "b"] { document.title = title }
      #expect(log.all == [">", ">a", "a>b"])
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

    @Test func `has the values of a change dictionary without a type`() {
      document.source("author.name").observe(options: [.old, .new], for: log) { log, change in
        log.add("\(change.oldValue is NSNull) \(change.newValue!)")
      }
      document.author = Author("")
      document.author?.name = "Ann"
      #expect(log.all == ["true ", "false Ann"])
    }

    @Test func `converts numbers as key-value coding does`() {
      document.source("pages", as: Double.self).onChange(for: log) { log, old, new in log.add("\(old)>\(new)") }
      document.pages = 2
      #expect(log.all == ["0.0>2.0"])
    }

    @Test func `has the whole collection before and after a change of its elements`() {
      document.source("tags", as: [String].self).map(\.count).onChange(for: log) { log, old, new in
        log.add("\(old)>\(new)")
      }
      document.source("tags.@count", as: Int.self).onChange(for: log) { log, _, new in log.add("\(new)") }
      document.mutableArrayValue(for: \.tags).append("a")
      document.tags += ["b", "c"]
      document.mutableArrayValue(for: \.tags).remove(at: 0)
      #expect(log.all.filter { $0.contains(">") } == ["0>1", "1>3", "3>2"])
      #expect(log.all.filter { !$0.contains(">") } == ["1", "3", "2"])
    }

    @Test func `can be read, bound, delivered and combined`() {
      let (copy, queue) = (Document(), DispatchQueue(label: "serial"))
      let title = document.source("title", as: String.self)
      KeyValueSource.combineLatest(title, document.source(\.pages)) { "\($0) \($1)" }.bind(to: copy, \.title)
      let token = title.delivered(on: queue).coalesced().onChange { [log] old, new in log.add("\(old)>\(new)") }
      document.title = "a"
      document.pages = 3
      queue.sync {}
      #expect(title.value == "a" && copy.title == "a 3" && log.all == [">a"])
      #expect(document.source("author.name").value is NSNull?)
      token.invalidate()
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

    @Test func `KVO0026, a value of another type: the observer is not notified, and the help says what to write`() {
      document.source("title", as: Int.self).observe(options: .new, for: log) { log, _ in log.add("called") }
      nonisolated(unsafe) var faults: [KeyValueFault] = []
      KeyValueFault.withHandler {
        faults.append($0)
        return .ignore
      } in: {
        document.title = "a"
      }
      #expect(faults.map(\.code) == [26] && log.all.isEmpty)
      #expect(faults.first?.help == "write source(\"title\", as: String.self)")
    }

    @Test func `KVO0010, a key path that cannot be observed: nothing is registered`() {
      expectFault(.malformedKeyPath) {
        let token = document.source("author..name").observe { _ in }
        #expect(!token.isActive)
      }
    }
  }
#endif
