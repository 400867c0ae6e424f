// Observations with the isolation of an actor.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("An observation on an actor")
  struct IsolationTests {
    let document = SharedDocument()
    let reader = Reader()

    @Test("gets the changes that a task without an actor makes, in order and with the values as they were")
    func fromTasks() async {
      document.observe(\.title, options: [.new], for: reader) { me, _, change in me.titles.append(change.newValue!) }
      for number in 1...100 { document.title = "\(number)" }
      while await reader.titles.count < 100 { await Task.yield() }
      #expect(await reader.titles == (1...100).map { "\($0)" })
    }

    @Test("gets a change that is made on the actor before the setter returns, after those that waited")
    func onTheActor() async {
      await reader.read(document)
      let (waiting, told) = await reader.run { [document] me in
        elsewhere { document.title = "A" }
        let titles = me.titles
        document.title = "B"
        return (titles, me.titles)
      }
      #expect(waiting == [] && told == ["A", "B"])
    }

    @Test("is on the actor of its closure, if the code that observes has none")
    func ofTheClosure() async {
      let log = Log<Bool>()
      nonisolated(unsafe) let listener = Listener()
      document.onChange(of: \.title, for: listener) { @MainActor _, _, _ in
        MainActor.preconditionIsolated()
        log.add(true)
      }
      document.title = "A"
      while log.all.isEmpty { await Task.yield() }
      withExtendedLifetime(listener) {}
    }

    @Test("drops what waits when it ends, and when the object dies")
    func drops() async {
      await reader.read(document)
      await reader.run { [document] me in
        elsewhere { document.title = "A" }
        document.stopObserving(for: me)
      }
      await reader.run { me in
        nonisolated(unsafe) var other: SharedDocument? = SharedDocument()
        me.read(other!)
        elsewhere {
          other!.title = "B"
          other = nil
        }
      }
      for _ in 1...100 { await Task.yield() }
      #expect(await reader.titles == [])
    }

    @Test("tells what waited at a pause when it is resumed, before what it has missed")
    func paused() async {
      await reader.run { [document] me in
        let token = document.onChange(of: \.title, for: me) { me, old, new in me.titles.append("\(old)>\(new)") }
        elsewhere { document.title = "A" }
        token.pause()
        document.title = "B"
        token.resume(deliveringMissed: true)
      }
      #expect(await reader.titles == [">A", "A>B"])
    }

    @Test("is that of the caller on the main actor")
    @MainActor
    func onTheMainActor() async {
      let panel = Panel()
      document.onChange(of: \.title, for: panel) { me, old, new in me.log.append("\(old)>\(new)") }
      elsewhere { [document] in document.title = "A" }
      #expect(panel.log == [])
      document.title = "B"
      #expect(panel.log == [">A", "A>B"])
      elsewhere { [document] in document.title = "C" }
      while panel.log.count < 3 { await Task.yield() }
      #expect(panel.log.last == "B>C")
    }

    @Test("drops what waits when the observed object stops a controller's observation")
    @MainActor
    func stoppedByObject() async {
      let panel = Panel()
      let controller = KeyValueObservationController(observer: panel)
      controller.observe(document, "title") { me, _, _ in me.log.append("title") }
      controller.observe(document, \.pages) { me, _, _ in me.log.append("pages") }
      elsewhere { [document] in
        document.title = "A"
        document.pages = 1
      }
      document.stopObserving(for: panel)
      for _ in 1...100 { await Task.yield() }
      #expect(panel.log == [])
      withExtendedLifetime(controller) {}
    }

    @Test("drops what waits when the handler itself ends the observation, however it was made")
    @MainActor
    func endedByHandler() {
      typealias Register = (SharedDocument, Panel, @escaping @MainActor () -> Void) -> () -> Void
      let forms: [Register] = [
        { document, panel, told in document.observe(\.title, for: panel) { _, _, _ in told() }.invalidate },
        { document, panel, told in document.source(\.title, \.pages).observe(for: panel) { _, _ in told() }.invalidate
        },
        { document, panel, told in document.observeAll(for: panel) { _, _, _, _ in told() }.invalidate },
        { document, panel, told in document.onChange(of: \.title, for: panel) { _, _, _ in told() }.invalidate },
        { document, _, told in document.onChange(of: \.title) { _, _ in told() }.invalidate },
        { document, panel, told in
          let controller = KeyValueObservationController(observer: panel)
          controller.observe(document, "title") { _, _, _ in told() }
          return { controller.unobserveAll() }
        },
      ]
      for (number, register) in forms.enumerated() {
        let (document, panel) = (SharedDocument(), Panel())
        let ending = Ending()
        var count = 0
        ending.end = register(document, panel) {
          count += 1
          ending.end()
        }
        elsewhere { for title in ["A", "B"] { document.title = title } }
        document.title = "C"  // tells what waits, too
        #expect(count == 1, "form \(number)")
      }
    }
  }

  @MainActor private final class Ending {
    var end: () -> Void = {}
  }

  /// Runs a function on a thread without a job, and waits for it.
  func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread {
      body()
      done.signal()
    }.start()
    done.wait()
  }

  actor Reader {
    var titles: [String] = []

    func read(_ document: SharedDocument) {
      document.onChange(of: \.title, for: self) { me, _, new in me.titles.append(new) }
    }

    @discardableResult
    func run<Result: Sendable>(_ body: @Sendable (isolated Reader) -> Result) -> Result { body(self) }
  }
#endif
