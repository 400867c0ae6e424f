// Delivery on an actor: before the setter returns where the code runs on the actor, later elsewhere, and in order.
#if Macros
  import Dispatch
  import KeyValueObserving
  import Testing

  @Suite("A delivery on an actor")
  struct ActorDeliveryTests {
    let document = SharedDocument()

    @Test("comes before the setter returns in a block of the main queue, which is the main actor's")
    func mainQueue() async {
      let log = Log<String>()
      nonisolated(unsafe) let listener = Listener()
      document.onChange(of: \.title, for: listener) { @MainActor _, _, new in log.add(new) }
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        DispatchQueue.main.async { [document] in
          document.title = "A"
          log.add("set")
          done.resume()
        }
      }
      #expect(log.all == ["A", "set"])
      withExtendedLifetime(listener) {}
    }

    @Test("comes later in a block of the main queue, if it is another actor")
    func otherActor() async {
      let seen = Seen()
      document.onChange(of: \.title, for: seen) { me, _, new in
        me.preconditionIsolated()
        me.add(new)
      }
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        DispatchQueue.main.async { [document] in
          document.title = "A"
          done.resume()
        }
      }
      await seen.all(of: 1)
      #expect(await seen.log == ["A"])
    }

    @Test("comes before the setter returns in code that the actor's executor knows as its own")
    func ownExecutor() {
      let (executor, log) = (KnowingExecutor(), Log<String>())
      let clerk = Clerk(executor, log)
      document.onChange(of: \.title, for: clerk) { me, _, new in me.log.add(new) }
      elsewhere { [document] in
        executor.queue.sync {
          document.title = "A"
          log.add("set")
        }
      }
      #expect(log.all == ["A", "set"])
    }

    @Test("tells the initial value first, also if it waits while a change is made on the actor")
    func initialFirst() async {
      let seen = Seen()
      await seen.run { [document, seen] _ in
        elsewhere {
          document.onChange(of: \.title, initial: true, for: seen) { me, old, new in me.add("\(old)>\(new)") }
        }
        document.title = "A"
      }
      #expect(await seen.log == [">", ">A"])
    }

    @Test("tells the initial values of all key paths before the observation is made")
    @MainActor
    func initialOfSeveral() {
      let panel = Panel()
      document.source(\.title, \.pages).observe(options: [.initial, .new], for: panel) { me, change in
        me.log.append("initial \(change.newValue!)")
      }
      #expect(panel.log == [#"initial ("", 0)"#])
    }

    @Test("keeps the order also if a key path had no initial value, or had one that was told at once")
    @MainActor
    func initialIsMissing() async {
      let (document, panel) = (document, Panel())
      document.source(\.author!.name, \.pages).onChange(initial: true, for: panel) { me, _, new in
        let (name, pages) = new
        me.log.append("both \(name) \(pages)")
      }
      document.onChange(of: \.pages, initial: true, for: panel) { me, _, pages in me.log.append("pages \(pages)") }
      document.onChange(of: \.author!.name, initial: true, for: panel) { me, _, name in me.log.append("name \(name)") }
      #expect(panel.log == ["pages 0"])
      elsewhere {
        document.author = Author("A")
        document.pages = 1
      }
      document.author!.name = "B"
      document.pages = 2
      await Task.yield()
      func told(_ first: String) -> [String] { panel.log.filter { $0.hasPrefix(first) } }
      #expect(told("both") == ["both A 0", "both A 1", "both B 1", "both B 2"])
      #expect(told("pages") == ["pages 0", "pages 1", "pages 2"])
      #expect(told("name") == ["name A", "name B"])
    }

    @Test("of the values of several key paths drops what waits when the handler ends the observation")
    @MainActor
    func endedByHandler() {
      let (document, panel) = (document, Panel())
      document.source(\.title, \.pages).onChange(for: panel) { me, _, new in
        let (title, _) = new
        me.log.append(title)
        document.stopObserving(for: me)
      }
      elsewhere { for title in ["A", "B"] { document.title = title } }
      document.title = "C"
      #expect(panel.log.count == 1)
    }
  }

  private actor Clerk {
    let log: Log<String>
    private nonisolated let executor: KnowingExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: KnowingExecutor, _ log: Log<String>) {
      self.executor = executor
      self.log = log
    }
  }

  /// A serial executor on a dispatch queue, which can tell whether code runs on it.
  private final class KnowingExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "knowing executor")
    private static let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func isIsolatingCurrentContext() -> Bool? { DispatchQueue.getSpecific(key: Self.key) == true }
  }
#endif
