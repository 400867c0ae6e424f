// The forms in which a key path and a source are observed, by who uses the receiver: one thread, several threads, an actor.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A key path and a source are observed")
  struct FormTests {
    let document = SharedDocument()
    var title: KeyValueSource<String> { document.source(\.title).map { $0.lowercased() } }

    @Test("for a receiver that several threads use, on the thread that makes the change, until the receiver dies")
    func sharedReceivers() {
      let log = Log<String>()
      var receiver: ClassicListener? = ClassicListener()
      let main = pthread_self()
      @Sendable func add(_ text: String) {
        log.add(pthread_equal(pthread_self(), main) != 0 ? text : "\(text), other thread")
      }
      let tokens = [
        document.observe(\.title, options: [.new], for: receiver!) { me, document, change in
          add("observe \(change.newValue!) \(document.pages) \(type(of: me))")
        },
        document.onChange(of: \.title, initial: true, for: receiver!) { _, old, new in add("onChange \(old)>\(new)") },
        title.observe(options: [.initial, .old, .new], for: receiver!) { _, change in
          add("source \(change.oldValue ?? "-")>\(change.newValue!)")
        },
        title.onChange(for: receiver!) { _, old, new in add("values \(old)>\(new)") },
      ]
      #expect(log.all == ["onChange >", "source ->"])
      document.title = "A"
      #expect(log.all.suffix(4).sorted() == ["observe A 0 ClassicListener", "onChange >A", "source >a", "values >a"])
      elsewhere { [document] in document.title = "B" }
      #expect(log.all.count == 10 && log.all.suffix(4).allSatisfy { $0.hasSuffix(", other thread") })
      receiver = nil
      document.title = "C"
      #expect(log.all.count == 10 && tokens.allSatisfy { !$0.isActive })
    }

    @Test("for an actor, from anywhere: the handlers are called on it")
    func actorsFromAnywhere() async {
      let seen = Seen()
      document.observe(\.title, options: [.new], for: seen) { me, _, change in me.add("observe \(change.newValue!)") }
      document.onChange(of: \.title, initial: true, for: seen) { me, old, new in me.add("onChange \(old)>\(new)") }
      title.observe(options: [.initial, .new], for: seen) { me, change in me.add("source \(change.newValue!)") }
      title.onChange(initial: true, for: seen) { me, old, new in me.add("values \(old)>\(new)") }
      document.title = "A"
      let expected = ["observe A", "onChange >", "onChange >A", "source ", "source a", "values >", "values >a"]
      #expect(await seen.all(of: expected.count).sorted() == expected)
    }

    @Test("for an actor, in its code: the handlers are called before the setter returns")
    func actorsInTheirCode() async {
      let seen = Seen()
      await seen.observe(document, title)
      #expect(await seen.log == ["onChange >", "source ", "values >"])
      await seen.run { [document] _ in document.title = "A" }
      #expect(await seen.log.suffix(4).sorted() == ["observe A", "onChange >A", "source a", "values >a"])
    }

    @Test("on the main actor, with a receiver and without one: the handlers are called there")
    @MainActor
    func mainActor() async {
      let panel = Panel()
      func add(_ text: String) {
        MainActor.assertIsolated()
        panel.log.append(text)
      }
      document.onChange(of: \.title, for: panel) { _, old, new in add("onChange \(old)>\(new)") }
      title.onChange(for: panel) { _, old, new in add("values \(old)>\(new)") }
      let tokens = [
        document.onChange(of: \.title) { old, new in add("token \(old)>\(new)") },
        title.observe(options: [.old, .new]) { change in add("source \(change.oldValue!)>\(change.newValue!)") },
      ]
      document.title = "A"
      let first = ["onChange >A", "source >a", "token >A", "values >a"]
      #expect(panel.log.sorted() == first)
      elsewhere { [document] in document.title = "B" }
      #expect(panel.log.sorted() == first)
      while panel.log.count < 8 { await Task.yield() }
      #expect(panel.log.suffix(4).sorted() == ["onChange A>B", "source a>b", "token A>B", "values a>b"])
      withExtendedLifetime(tokens) {}
    }

    @Test("until they are ended; invalidateAndWait waits for a handler on another thread", arguments: 0..<3)
    func endedAndWaitedFor(form: Int) {
      let (document, other, listener, log) = (SharedDocument(), SharedDocument(), SharedListener(), Log<String>())
      let began = DispatchSemaphore(value: 0)
      let work: @Sendable () -> Void = {
        began.signal()
        usleep(20_000)
        log.add("called")
      }
      let token =
        switch form {
        case 0: document.observe(\.pages, for: listener) { _, _, _ in work() }
        case 1: document.source(\.title, \.pages).onChange(for: listener) { _, _, _ in work() }
        default: document.bindTwoWay(\.pages, with: other, \.pages, initially: .wait, applied: work)
        }
      let ended = onThread { document.pages = 1 }
      began.wait()
      token.invalidateAndWait()
      #expect(log.all == ["called"])
      ended.wait()
      document.pages = 2
      #expect(log.all == ["called"])
    }
  }

  extension Seen {
    fileprivate func observe(_ document: SharedDocument, _ title: KeyValueSource<String>) {
      document.observe(\.title, options: [.new], for: self) { me, _, change in me.add("observe \(change.newValue!)") }
      document.onChange(of: \.title, initial: true, for: self) { me, old, new in me.add("onChange \(old)>\(new)") }
      title.observe(options: [.initial, .new], for: self) { me, change in me.add("source \(change.newValue!)") }
      title.onChange(initial: true, for: self) { me, old, new in me.add("values \(old)>\(new)") }
    }
  }
#endif
