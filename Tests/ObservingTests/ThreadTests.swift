// Several threads at once; run under ThreadSanitizer by `make check`.
import CKVO
import KeyValueObserving
import Testing

@Suite("Observing from several threads", .serialized)
struct ThreadTests {
  @Test func `n threads that set a key m times cause n times m notifications`() {
    let document = Guarded(Document())
    let count = Count()
    let token = document.object.observe(\.title) { _, _ in count.add() }
    onThreads(4) { thread in
      for index in 0..<500 { document.access { $0.title = "\(thread) \(index)" } }
    }
    #expect(count.value == 2000)
    token.invalidate()
  }

  @Test func `Threads that set a property at the end of a path cause one notification per set`() {
    let document = Guarded(Document())
    document.object.author = Person(name: "")
    let count = Count()
    let token = document.object.observe(\.author?.name, options: [.old, .new]) { _, _ in count.add() }
    onThreads(4) { thread in
      for index in 0..<300 { document.access { $0.author?.name = "\(thread) \(index)" } }
    }
    #expect(count.value == 1200)
    token.invalidate()
  }

  @Test func `Observations are added, removed and listed by eight threads while the object is set`() {
    let document = Guarded(Document())
    let always = Count()
    let token = document.object.observe(\.title) { _, _ in always.add() }
    onThreads(8) { thread in
      for index in 0..<200 {
        switch thread % 4 {
        case 0: document.access { $0.title = "\(index)" }
        case 1: document.object.observe(\.title, options: [.old, .new, .prior]) { _, _ in }.invalidateAndWait()
        case 2: document.access { $0.observe(\.summary, options: [.initial, .new]) { _, _ in } }.invalidate()
        default: #expect(document.object.observationInfo != nil)
        }
      }
    }
    #expect(always.value == 400)
    token.invalidate()
    #expect(document.object.observationInfo == nil)
  }

  @Test func `The last removal races with sets, and no observation remains`() {
    let document = Guarded(Document())
    onThreads(4) { thread in
      for index in 0..<300 {
        if thread % 2 == 0 {
          document.access { $0.pages.append(index) }
          document.access { $0.title += "x" }
        } else {
          document.object.observe(\.title) { _, _ in }.invalidate()
        }
      }
    }
    #expect(document.object.title.count == 600)
    #expect(document.object.observationInfo == nil)
  }

  @Test func `A lock may be held while a property is set, and closures may take it`() {
    let document = Guarded(Document())
    let seen = Count()
    let token = document.object.observe(\.title) { _, _ in document.access { seen.add($0.title.count) } }
    onThreads(4) { _ in
      for _ in 0..<200 {
        document.access { $0.title = "four" }
        document.object.observe(\.title) { _, _ in document.access { seen.add($0.title.count - 4) } }
          .invalidateAndWait()
      }
    }
    #expect(seen.value == 4 * 800)
    token.invalidate()
  }

  @Test func `Threads that observe the first objects of a class at once are all notified`() {
    let count = Count()
    onThreads(8) { _ in
      @Sendable func observe(_ object: Fresh) {
        let token = object.observe(\.value) { _, _ in count.add() }
        object.value += 1
        token.invalidate()
      }
      observe(Fresh())
    }
    #expect(count.value == 8)
    // The runtime would append a number to the name of a second registration of the class.
    #expect(kvo_class_find("Fresh") != nil && kvo_class_find("Fresh#2") == nil)
  }

  @Test func `A path whose middle object is replaced by several threads ends with the last value`() {
    let document = Guarded(Document())
    let token = document.object.observe(\.author?.name, options: [.new]) { _, _ in }
    onThreads(4) { thread in
      for index in 0..<200 { document.access { $0.author = Person(name: "\(thread) \(index)") } }
    }
    let log = Log()
    let last = document.object.observe(\.author?.name, options: [.new]) { _, change in
      log.add(text(change.newValue as Any))
    }
    document.object.author?.name = "end"
    #expect(log.lines == ["end"])
    withExtendedLifetime((token, last)) {}
  }

  @Test func `Two objects whose observers set each other, from two threads, do not deadlock`() {
    let (one, two) = (Guarded(Person(name: "")), Guarded(Person(name: "")))
    let echoes = Count()
    // Each stored property is set by one thread only; the threads share the observations and their objects.
    let tokens = [
      one.object.observe(\.age, options: [.new]) { two.object.name = "\($1.newValue ?? -1)" },
      two.object.observe(\.age, options: [.new]) { one.object.name = "\($1.newValue ?? -1)" },
      one.object.observe(\.name) { _, _ in echoes.add() },
      two.object.observe(\.name) { _, _ in echoes.add() },
    ]
    onThreads(2) { thread in
      for index in 0..<1000 { (thread == 0 ? one : two).object.age = index }
    }
    #expect(echoes.value == 2000)
    #expect(one.object.name == "999" && two.object.name == "999")
    withExtendedLifetime(tokens) {}
  }
}
