// Several threads at once; run under ThreadSanitizer by `make check`.
#if Macros
  import Foundation
  import KeyValueObserving
  import Synchronization
  import Testing

  /// Runs a body on several threads at once and waits for them.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    DispatchQueue.concurrentPerform(iterations: count) { body($0) }
  }

  /// The language guards no storage; a test that sets one property from several threads does it under a lock.
  private final class Guarded<Object>: @unchecked Sendable {
    let object: Object
    private let lock = NSLock()
    init(_ object: Object) { self.object = object }
    func access(_ body: (Object) -> Void) { lock.withLock { body(object) } }
  }

  @Suite("Observing from several threads", .serialized)
  struct ThreadTests {
    @Test func `n threads that set a key m times give n times m notifications`() {
      let document = Guarded(Document())
      let count = Atomic<Int>(0)
      let token = document.object.observe(\.title) { _, _ in count.wrappingAdd(1, ordering: .relaxed) }
      onThreads(4) { thread in
        for index in 0..<500 { document.access { $0.title = "\(thread) \(index)" } }
      }
      #expect(count.load(ordering: .relaxed) == 2000)
      token.invalidate()
    }

    @Test func `Observers come and go while others set`() {
      let document = Guarded(Document())
      let always = Atomic<Int>(0)
      let token = document.object.observe(\.title) { _, _ in always.wrappingAdd(1, ordering: .relaxed) }
      onThreads(4) { thread in
        for index in 0..<300 {
          if thread < 2 {
            document.access { $0.title = "\(index)" }
          } else {
            let kept = String(index)
            document.object.observe(\.title, options: [.new]) { _, _ in _ = kept.count }.invalidate()
          }
        }
      }
      #expect(always.load(ordering: .relaxed) == 600)
      token.invalidate()
      #expect(document.object.observationInfo == nil)
    }

    @Test func `Threads that observe the first objects of a class at once all hear`() {
      let count = Atomic<Int>(0)
      onThreads(8) { _ in
        @Sendable func observe(_ object: Fresh) {
          let token = object.observe(\.value) { _, _ in count.wrappingAdd(1, ordering: .relaxed) }
          object.value += 1
          token.invalidate()
        }
        observe(Fresh())
      }
      #expect(count.load(ordering: .relaxed) == 8)
    }

    @Test func `A path whose middle is replaced by several threads ends at the last value`() {
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

    @Test func `Tokens released on one thread while another sets free each closure once`() {
      final class Counted: Sendable {
        static let living = Atomic<Int>(0)
        init() { Self.living.wrappingAdd(1, ordering: .relaxed) }
        deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }
      }
      let document = Guarded(Document())
      onThreads(2) { thread in
        for index in 0..<500 {
          if thread == 0 {
            document.access { $0.title = "\(index)" }
          } else {
            let counted = Counted()
            let token = document.object.observe(\.title) { _, _ in withExtendedLifetime(counted) {} }
            token.invalidate()
          }
        }
      }
      document.object.title = "last"
      #expect(Counted.living.load(ordering: .relaxed) == 0)
    }

    @Test func `Objects die on several threads while observed`() {
      let heard = Atomic<Int>(0)
      onThreads(4) { _ in
        for _ in 0..<300 {
          let document = Document()
          let token = document.observe(\.summary) { _, _ in heard.wrappingAdd(1, ordering: .relaxed) }
          document.author = Person(name: "x")
          withExtendedLifetime(token) {}
        }
      }
      #expect(heard.load(ordering: .relaxed) == 1200)
    }

    @Test func `Two objects whose observers set each other, from two threads, do not deadlock`() {
      let (one, two) = (Guarded(Counter()), Guarded(Counter()))
      let echoes = Atomic<Int>(0)
      // Each stored property is set by one thread only; the observations and their objects are what is shared.
      let tokens = [
        one.object.observe(\.here, options: [.new]) { two.object.echo = $1.newValue ?? -1 },
        two.object.observe(\.here, options: [.new]) { one.object.echo = $1.newValue ?? -1 },
        one.object.observe(\.echo) { _, _ in echoes.wrappingAdd(1, ordering: .relaxed) },
        two.object.observe(\.echo) { _, _ in echoes.wrappingAdd(1, ordering: .relaxed) },
      ]
      onThreads(2) { thread in
        for index in 0..<1000 { (thread == 0 ? one : two).object.here = index }
      }
      #expect(echoes.load(ordering: .relaxed) == 2000)
      #expect(one.object.echo == 999 && two.object.echo == 999)
      withExtendedLifetime(tokens) {}
    }
  }

  @KeyValueObservable
  private final class Fresh {
    var value = 0
  }

  @KeyValueObservable
  private final class Counter {
    var here = 0
    var echo = 0
  }
#endif
