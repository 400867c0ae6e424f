// Expressions that code of an actor observes: they are evaluated on that actor, whatever thread changes what they read.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("An expression that code of an actor observes")
  @MainActor
  struct ActorExpressionTests {
    let feed = SharedDocument()
    let screen: Screen
    let log = Log<String>()

    init() { screen = Screen(feed) }

    @Test("is evaluated on the main actor, with the value delivered last and its present one")
    func onTheMainActor() async {
      screen.observe(\.title, options: [.old, .new], for: screen) { _, _, change in
        MainActor.preconditionIsolated()
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      elsewhere { [feed] in for name in ["A", "B", "C"] { feed.title = name } }
      #expect(log.all == [])
      await until { !log.all.isEmpty }
      #expect(log.all == [" 0>C 0"])
      screen.count = 1
      #expect(log.all == [" 0>C 0", "C 0>C 1"])
    }

    @Test("has no old value after a change elsewhere if its type may hold an object, as a structure of a string may")
    func ofStructures() async {
      screen.observe(\.shown, options: [.old, .new], for: screen) { _, _, change in
        log.add("\(change.oldValue?.text ?? "-")>\(change.newValue!.text)")
      }
      screen.onChange(of: \.shown, for: screen) { _, old, new in log.add("onChange \(old.text)>\(new.text)") }
      elsewhere { [feed] in feed.title = "A" }
      await until { log.all.count == 2 }
      screen.count = 1
      #expect(log.all(after: "onChange") == ["A 0>A 0", "A 0>A 1"])
      #expect(log.all.filter { !$0.hasPrefix("on") } == ["->A 0", "A 0>A 1"])
    }

    @Test("is notified of a change on the actor before the setter returns, and of those before it")
    func synchronously() async {
      screen.onChange(of: \.title, for: screen) { _, old, new in log.add("\(old)>\(new)") }
      elsewhere { [feed] in feed.title = "A" }
      screen.count = 1
      #expect(log.all.last?.hasSuffix(">A 1") == true)
      for _ in 1...100 { await Task.yield() }
      #expect(log.all.count == 1)
      feed.title = "B"
      #expect(log.all.last == "A 1>B 1")
    }

    @Test("is evaluated where it is observed also in another actor, and in that of a global actor")
    func onOtherActors() async {
      let clerk = Clerk(feed)
      await clerk.observe(log)
      await Cabinet.observe(feed, log)
      feed.title = "A"
      await until { log.all.count == 2 }
      #expect(log.all.sorted() == ["archive >A", "clerk >A"])
      withExtendedLifetime(clerk) {}
    }

    @Test("is evaluated on the actor of the code that observes, not on that of the handler")
    func ofTheCode() async {
      let seen = Seen()
      screen.onChange(of: \.title, for: seen) { _, _, new in log.add(new) }
      screen.source(\.title).delivered(on: DispatchQueue.global()).onChange(for: seen) { _, _, new in log.add(new) }
      let tokens = [
        screen.source(\.title).delivered(on: seen).onChange { _, new in log.add(new) },
        screen.source(\.title).delivered(on: DispatchQueue.global()).onChange { _, new in log.add(new) },
      ]
      elsewhere { [feed] in feed.title = "A" }
      await until { log.all.count == 4 }
      screen.count = 1
      await until { log.all.count == 8 }
      #expect(Set(log.all) == ["A 0", "A 1"])
      withExtendedLifetime(tokens) {}
    }

    @Test("has its initial value at once, and the prior notification after a change elsewhere")
    func initialAndPrior() async {
      screen.observe(\.title, options: [.initial, .prior, .old, .new], for: screen) { _, _, change in
        log.add("\(change.isPrior ? "prior " : "")\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      #expect(log.all == ["-> 0"])
      elsewhere { [feed] in feed.title = "A" }
      await until { log.all.count == 3 }
      #expect(log.all.dropFirst() == ["prior  0>-", " 0>A 0"])
    }

    @Test("ends with its token, its receiver and its object while it is to be evaluated")
    func endings() async {
      let token = screen.onChange(of: \.title) { _, new in log.add(new) }
      var receiver: Listener? = Listener()
      screen.onChange(of: \.title, for: receiver!) { _, _, new in log.add(new) }
      var other: Screen? = Screen(feed)
      other!.onChange(of: \.title, for: screen) { _, _, new in log.add(new) }
      elsewhere { [feed] in feed.title = "A" }
      token.invalidate()
      receiver = nil
      other = nil
      for _ in 1...100 { await Task.yield() }
      #expect(log.all == [])
    }

    @Test("notifies of the last value that several threads set, while tokens are made and ended")
    func underLoad() async {
      screen.onChange(of: \.ticks, for: screen) { _, old, new in log.add("\(old)>\(new)") }
      let ticker = screen.ticker
      let threads = (1...3).map { _ in Task.detached { for turn in 1...300 { ticker.value = turn } } }
      for turn in 1...100 {
        let token = screen.onChange(of: \.ticks) { _, _ in }
        await Task.yield()
        if turn % 2 == 0 { token.invalidate() }
        screen.count = turn
      }
      for thread in threads { await thread.value }
      await until { log.all.last?.hasSuffix(">300 100") == true }
      let values = log.all.map { $0.split(separator: ">", omittingEmptySubsequences: false) }
      #expect(zip(values, values.dropFirst()).allSatisfy { $0[1] == $1[0] }, "the old value is the new one before it")
    }

    @Test("that is a path of stored properties gets all changes, in order")
    func paths() async {
      screen.observe(\.feed.title, options: [.old, .new], for: screen) { _, _, change in
        log.add("\(change.oldValue!)>\(change.newValue!)")
      }
      screen.observe(\.feed.author?.name, options: [.old, .new], for: screen) { _, _, change in
        log.add("\(change.oldValue! ?? "-")>\(change.newValue! ?? "-")")
      }
      elsewhere { [feed] in
        for name in ["A", "B"] { feed.title = name }
      }
      elsewhere { [feed] in
        feed.author = Author("")
        feed.author!.name = "C"
        feed.author = nil
      }
      await until { log.all.count == 5 }
      #expect(log.all.filter { !$0.contains("C") && !$0.contains("-") } == [">A", "A>B"])
      #expect(log.all.filter { $0.contains("C") || $0.contains("-") } == ["->", ">C", "C>-"])
    }

    @Test("that is a weak property gets all changes with their old values, in order, alone and in a tuple")
    func weakProperties() async {
      let desk = SharedDesk()
      desk.observe(\.guest, options: [.old, .new], for: screen) { _, _, change in
        log.add("\(change.oldValue.flatMap { $0?.name } ?? "-")>\(change.newValue!?.name ?? "-")")
      }
      desk.source(\.guest, \.number).observe(options: [.new], for: screen) { _, change in
        log.add("both \(change.newValue!.0?.name ?? "-") \(change.newValue!.1)")
      }
      nonisolated(unsafe) let authors = [Author("A"), Author("B")]
      elsewhere {
        for author in authors { desk.guest = author }
        desk.number = 1
        desk.guest = nil
      }
      await until { log.all.count == 7 }
      #expect(log.all.filter { !$0.hasPrefix("both") } == ["->A", "A>B", "B>-"])
      #expect(log.all(after: "both") == ["A 0", "B 0", "B 1", "- 1"])
      withExtendedLifetime(authors) {}
    }

    @Test("of several key paths, a whole collection and the elements of one is read on the actor")
    func readAgain() async {
      screen.source(\.title, \.count).onChange(for: screen) { _, _, new in log.add("\(new.0), \(new.1)") }
      screen.onChange(of: \.feed.tags, for: screen) { _, old, new in log.add("\(old)>\(new)") }
      screen.onChange(of: \.titles, for: screen) { _, old, new in log.add("\(old)>\(new)") }
      screen.observe(\.titles, options: [.new, .collectionChanges], for: screen) { _, _, change in
        log.add("\(change.kind == .insertion) \(change.newValue ?? [])")
      }
      elsewhere { [feed] in
        feed.title = "A"
        feed.tags = ["B"]
      }
      await until { log.all.count == 4 }
      #expect(Set(log.all) == ["A 0, 0", "[]>[\"B\"]", "true [\"B\"]"])
      elsewhere { [feed] in feed.mutableArrayValue(for: \.tags).append("C") }
      await until { log.all.count == 7 }
      #expect(Set(log.all.suffix(3)) == ["[\"B\"]>[\"B\", \"C\"]", "true [\"C\"]"])
    }

    @Test("sets the target of a binding, and the value of a source, there")
    func bindings() async {
      screen.bind(\.caption) { [screen] in screen.title + "!" }
      screen.source(\.title).map { $0 + "?" }.bind(to: screen, \.subtitle)
      KeyValueSource.combineLatest(screen.source(\.title), screen.source(\.count)) { "\($0), \($1)" }
        .onChange(for: screen) { _, _, new in log.add(new) }
      elsewhere { [feed] in feed.title = "A" }
      await until { screen.caption == "A 0!" && screen.subtitle == "A 0?" && log.all == ["A 0, 0"] }
      screen.count = 1
      #expect(screen.caption == "A 1!" && screen.subtitle == "A 1?" && log.all.last == "A 1, 1")
      screen.unbind(\.caption)
    }

    @Test("is evaluated there also in a stream of its values, and for a receiver of a string key path")
    func streamsAndStrings() async {
      let values = screen.values(of: \.title)
      let loop = Task { for await title in values { log.add("stream \(title)") } }
      await until { log.all == ["stream  0"] }
      screen.source("title").observe(options: [.old, .new], for: screen) { _, change in
        log.add("string \(change.oldValue!)>\(change.newValue!)")
      }
      elsewhere { [feed] in feed.title = "A" }
      await until { log.all.count == 3 }
      #expect(log.all.suffix(2).sorted() == ["stream A 0", "string  0>A 0"])
      loop.cancel()
    }
  }

  /// Waits until a condition holds; the test fails if that takes too long.
  @MainActor
  private func until(_ isTrue: @MainActor () -> Bool) async {
    for _ in 1...20_000 where !isTrue() { await Task.yield() }
    for _ in 1...200 where !isTrue() { try? await Task.sleep(for: .milliseconds(10)) }
    #expect(isTrue())
  }

  /// What threads change at the same time.
  final class Ticker: KeyValueObservable, @unchecked Sendable {
    let _$kvo = KeyValueObservationHeader()
    private let lock = NSLock()  // not a Mutex, which ThreadSanitizer does not know
    private var stored = 0
    private static let key = KeyValueObservationHeader.key("value")

    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("value", key, \Ticker.value)
    }

    var value: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, Self.key, { present }) : present }
      set { _$kvo.change(Self.key, { present }, { present = newValue }) }
    }

    private var present: Int {
      get { lock.withLock { stored } }
      set { lock.withLock { stored = newValue } }
    }
  }

  /// A view model: what it computes may be read on the main actor only.
  @MainActor
  @KeyValueObservable
  final class Screen {
    var feed: SharedDocument
    let ticker = Ticker()
    var count = 0
    var caption = ""
    var subtitle = ""
    var title: String {
      MainActor.preconditionIsolated()
      return "\(feed.title) \(count)"
    }
    var shown: Shown { Shown(text: title) }
    var titles: [String] {
      MainActor.preconditionIsolated()
      return feed.tags
    }
    var ticks: String {
      MainActor.preconditionIsolated()
      return "\(ticker.value) \(count)"
    }

    init(_ feed: SharedDocument) { self.feed = feed }
  }

  struct Shown { let text: String }

  /// An object with a weak property that several threads use.
  @KeyValueObservable
  private final class SharedDesk: @unchecked Sendable {
    weak var guest: Author?
    var number = 0

    init() {}
  }

  /// A model whose title may be read on its owner only.
  @KeyValueObservable
  private final class Desk {
    @NotObserved weak var owner: (any Actor)?
    let feed: SharedDocument
    var title: String {
      owner?.preconditionIsolated()
      return feed.title
    }

    init(_ feed: SharedDocument) { self.feed = feed }
  }

  private actor Clerk {
    let desk: Desk

    init(_ feed: SharedDocument) { desk = Desk(feed) }

    func observe(_ log: Log<String>) {
      desk.owner = self
      desk.onChange(of: \.title, for: self) { me, old, new in
        me.preconditionIsolated()
        log.add("clerk \(old)>\(new)")
      }
    }
  }

  @globalActor
  private actor Archive {
    static let shared = Archive()
  }

  @Archive
  private enum Cabinet {
    static var desk: Desk?

    static func observe(_ feed: SharedDocument, _ log: Log<String>) {
      let desk = Desk(feed)
      desk.owner = Archive.shared
      self.desk = desk
      desk.onChange(of: \.title, for: desk) { _, old, new in
        Archive.shared.preconditionIsolated()
        log.add("archive \(old)>\(new)")
      }
    }
  }
#endif
