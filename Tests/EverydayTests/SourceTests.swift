// Sources: what they tell, old and new values, and how long they last.
#if Macros
  import CKVO
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Draft {
    weak var author: Author?
  }

  @Suite("A source")
  struct SourceTests {
    @Test("tells the old and the new value, and the initial one")
    func oldAndNew() {
      let (document, log) = (Document(), Log<String>())
      let token = document.source(\.title).observe(options: [.initial, .old, .new]) { change in
        log.add("\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      document.title = "A"
      #expect(log.all == ["->", ">A"])
      token.invalidate()
      document.title = "B"
      #expect(log.all.count == 2)
    }

    @Test("can be used several times, and observes nothing by itself")
    func severalTimes() {
      let (document, panel) = (Document(), Panel())
      let title = document.source(\.title)
      #expect(kvo_object_observation_count(document.__keyValueObject) == 0)
      var seen: [String] = []
      let tokens = [1, 2].map { _ in title.onChange { _, new in seen.append(new) } }
      title.onChange(for: panel) { me, _, new in me.caption = new }
      document.title = "A"
      #expect(seen == ["A", "A"])
      #expect(panel.caption == "A")
      #expect(title.value == "A")
      withExtendedLifetime(tokens) {}
    }

    @Test("does not keep its object, and has no value without it")
    func objectIsNotKept() {
      var document: Document? = Document()
      let title = document!.source(\.title).map { $0.count }
      let token = title.observe { _ in }
      #expect(title.value == 0)
      document = nil
      #expect(title.value == nil)
      #expect(!token.isActive)
      #expect(!title.observe { _ in }.isActive)
    }

    @Test("passes old and new values through operators, the old one being what was told before")
    func operators() {
      let (document, log) = (Document(), Log<String>())
      let shown = document.source(\.title).filter { !$0.isEmpty }.map { $0.uppercased() }.removeDuplicates()
      let token = shown.observe(options: [.initial, .old, .new]) { change in
        log.add("\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      for title in ["a", "A", "", "b"] { document.title = title }
      #expect(log.all == ["->A", "A>B"])
      #expect(shown.value == "B")
      document.title = ""
      #expect(shown.value == nil)
      token.invalidate()
    }

    @Test("leaves out what compactMap makes nil, and gives onChange a value in place of a missing old one")
    func compactMap() {
      let (document, log) = (Document(), Log<String>())
      let token = document.source(\.title).compactMap { Int($0) }.onChange { old, new in log.add("\(old)>\(new)") }
      for title in ["x", "1", "y", "2"] { document.title = title }
      #expect(log.all == ["1>1", "1>2"])
      token.invalidate()
    }

    @Test("tells the value that it told last as the old one, whatever removeDuplicates leaves out between")
    func duplicates() {
      typealias Source = KeyValueSource<Int>
      let areAlike: @Sendable (Int, Int) -> Bool = { $0 % 4 == $1 % 4 }
      func told(_ options: NSKeyValueObservingOptions = [.old, .new], _ make: (Source) -> Source) -> [String] {
        let (document, log) = (Document(), Log<String>())
        let token = make(document.source(\.pages)).observe(options: options) { change in
          log.add("\(change.oldValue.map { "\($0)" } ?? "-")>\(change.newValue.map { "\($0)" } ?? "-")")
        }
        for pages in [1, 5, 9, 2, 6, 2, 6, 3] { document.pages = pages }
        token.invalidate()
        return log.all
      }
      #expect(told { $0.removeDuplicates(by: areAlike) } == ["0>1", "1>2", "2>3"])
      #expect(told { $0.removeDuplicates(by: areAlike).map { $0 + 100 } } == ["100>101", "101>102", "102>103"])
      #expect(told { $0.map { $0 }.removeDuplicates(by: areAlike).removeDuplicates() } == ["0>1", "1>2", "2>3"])
      #expect(told { .merge($0.removeDuplicates(by: areAlike)) } == ["0>1", "1>2", "2>3"])
      #expect(told([.initial, .old, .new]) { $0.removeDuplicates(by: areAlike) } == ["->0", "0>1", "1>2", "2>3"])
      #expect(told(.new) { $0.removeDuplicates(by: areAlike) } == ["->1", "->2", "->3"])
      #expect(told { $0.removeDuplicates { abs($0 - $1) < 4 } } == ["0>5", "5>9", "9>2", "2>6", "6>2", "2>6"])
    }

    @Test("tells the old value as it was told, though values that are equal to it, and differ, were left out")
    func equalValues() {
      struct Name: Equatable {
        let text: String
        static func == (one: Self, other: Self) -> Bool { one.text.lowercased() == other.text.lowercased() }
      }
      for options in [[.old, .new], [.old, .new, .distinct]] as [NSKeyValueObservingOptions] {
        let (document, log) = (Document(), Log<String>())
        let names = document.source(\.title).map { Name(text: $0) }
        let source = options.contains(.distinct) ? names : names.removeDuplicates()
        let token = source.observe(options: options) { log.add("\($0.oldValue!.text)>\($0.newValue!.text)") }
        for title in ["Emma", "EMMA", "emma", "Persuasion"] { document.title = title }
        #expect(log.all == [">Emma", "Emma>Persuasion"])
        token.invalidate()
      }
    }

    @Test("whose duplicates are removed has the value delivered last as the old one, and keeps no object")
    func duplicatesOfObjects() {
      let (document, log) = (Document(), Log<String>())
      let token = document.source(\.pages).removeDuplicates { $0 % 4 == $1 % 4 }.onChange { log.add("\($0)>\($1)") }
      for pages in [1, 5] { document.pages = pages }
      withoutNotifying(document) { document.pages = 6 }
      document.pages = 1  // what was delivered last
      document.pages = 6
      #expect(log.all == ["0>1", "1>6"])
      token.invalidate()
      let draft = Draft()
      weak var known: Author?
      let other = draft.source(\.author).removeDuplicates { $0 === $1 }.observe(options: [.old, .new]) { change in
        log.add(change.newValue! == nil ? "nobody" : "author")
      }
      do {
        let author = Author("A")
        known = author
        for _ in 1...2 { draft.author = author }
      }
      #expect(known == nil)
      #expect(log.all.suffix(2) == ["author", "nobody"])
      other.invalidate()
    }

    @Test("is paused as a whole, though the first of the objects that it combines has died")
    func pausedAfterDeath() {
      var first: Document? = Document()
      let (second, log) = (Document(), Log<Int>())
      let token = KeyValueSource.combineLatest(first!.source(\.pages), second.source(\.pages)) { $0 + $1 }
        .observe(options: .new) { log.add($0.newValue!) }
      first = nil
      token.pause()
      #expect(token.isActive && token.isPaused)
      second.pages = 1
      #expect(log.all.isEmpty)
      token.resume()
      #expect(!token.isPaused)
      _ = first
    }

    @Test("combines the latest values of any number of sources of any types")
    func combineLatest() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      let all = KeyValueSource.combineLatest(
        one.source(\.pages), other.source(\.title).filter { !$0.isEmpty }, other.source(\.pages)
      ) { "\($0) \($1) \($2)" }
      let token = all.observe(options: [.initial, .old, .new]) { change in
        log.add("\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      one.pages = 1
      other.title = "A"
      other.title = ""
      other.pages = 2
      #expect(log.all == ["->1 A 0", "1 A 0>1 A 2"])
      #expect(all.value == nil)
      token.invalidate()
      one.pages = 3
      #expect(log.all.count == 2)
    }

    @Test("that combines two sources of one property tells a change once, and no mixture of old and new values")
    func diamond() {
      let (document, log) = (Document(), Log<String>())
      let pages = document.source(\.pages)
      let token = KeyValueSource.combineLatest(pages, pages.map { $0 * 10 }) { "\($0) \($1)" }
        .observe(options: [.old, .new]) { log.add("\($0.oldValue!)>\($0.newValue!)") }
      document.pages = 1
      document.pages = 2
      #expect(log.all == ["0 0>1 10", "1 10>2 20"])
      token.invalidate()
      #expect(kvo_object_observation_count(document.__keyValueObject) == 0)
    }

    @Test("of several objects goes on until the last of them is gone")
    func lastObject() {
      var one: Document? = Document()
      var other: Document? = Document()
      let log = Log<Int>()
      let sum = KeyValueSource.combineLatest(one!.source(\.pages), other!.source(\.pages)) { $0 + $1 }
      let token = sum.observe(options: .new) { log.add($0.newValue!) }
      one!.pages = 1
      one = nil
      other!.pages = 2
      #expect(log.all == [1, 3])
      #expect(token.isActive)
      other = nil
      #expect(!token.isActive)
    }

    @Test("merges the changes of several sources")
    func merge() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      let token = KeyValueSource.merge(one.source(\.title), other.source(\.title))
        .observe(options: [.old, .new]) { log.add("\($0.oldValue ?? "-")>\($0.newValue ?? "-")") }
      one.title = "A"
      other.title = "B"
      one.title = "C"
      #expect(log.all == [">A", "A>B", "B>C"])
      token.invalidate()
    }

    @Test("reads each merged source once for its value, which is that of the first one that has one")
    func valueOfMerged() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      (one.title, other.title) = ("A", "B")
      func named(_ name: String, _ document: Document) -> KeyValueSource<String> {
        document.source(\.title).filter { title in
          log.add(name)
          return !title.isEmpty
        }
      }
      let merged = KeyValueSource.merge(named("one", one), named("other", other))
      #expect(merged.value == "A" && log.all == ["one"])
      one.title = ""
      #expect(merged.value == "B" && log.all == ["one", "one", "other"])
      other.title = ""
      #expect(merged.value == nil)
      let token = merged.observe(options: [.initial, .new]) { _ in log.add("told") }
      #expect(!log.all.contains("told"))
      token.invalidate()
    }

    @Test("gives an operator the values that it needs, whatever values are asked of it")
    func needed() {
      let (document, other, log) = (Document(), Document(), Log<String>())
      let count = document.source(\.title).map(\.count)
      let all = [
        count, count.filter { $0 >= 0 }, count.removeDuplicates(), KeyValueSource.merge(count, other.source(\.pages)),
        KeyValueSource.combineLatest(count, other.source(\.pages)) { $0 + $1 },
      ]
      let tokens = all.enumerated().flatMap { index, source in
        [
          source.observe { change in log.add("\(index) \(change.oldValue ?? -1) \(change.newValue ?? -1)") },
          source.observe(options: .old) { change in log.add("\(index) old \(change.oldValue ?? -1)") },
        ]
      }
      document.title = "A"
      #expect(log.all.sorted() == all.indices.flatMap { ["\($0) -1 -1", "\($0) old 0"] })
      for token in tokens { token.invalidate() }
    }

    @Test("of an expression depends on what it has read last")
    func expression() {
      let (one, other, log) = (Document(), Document(), Log<String>())
      let shown = KeyValueSource { one.pages > 0 ? one.title : other.title }
      let token = shown.observe(options: [.old, .new]) { log.add("\($0.oldValue ?? "-")>\($0.newValue ?? "-")") }
      one.title = "A"
      other.title = "B"
      one.pages = 1
      other.title = "C"
      one.title = "D"
      #expect(log.all == [">B", "B>A", "A>D"])
      #expect(shown.value == "D")
      token.invalidate()
    }

    @Test("of an expression holds what it captures as long as it is observed")
    func expressionHolds() {
      weak var document: Document?
      do {
        let made = Document()
        document = made
        let token = KeyValueSource { made.title }.observe { _ in }
        withExtendedLifetime(token) {}
      }
      #expect(document == nil)
      var panel: Panel? = Panel()
      do {
        let made = Document()
        document = made
        KeyValueSource { made.title }.onChange(for: panel!) { me, _, new in me.caption = new }
      }
      document!.title = "A"
      #expect(panel!.caption == "A")
      panel = nil
      #expect(document == nil)
    }

    @Test("of an expression tells its last value as the old one when a weakly referenced object dies")
    func expressionOfWeak() {
      func told(_ options: NSKeyValueObservingOptions) -> [String] {
        let (draft, log) = (Draft(), Log<String>())
        let token = KeyValueSource { draft.author?.name }.observe(options: options) { change in
          log.add("\(change.oldValue.map { $0 ?? "nil" } ?? "-")>\(change.newValue.map { $0 ?? "nil" } ?? "-")")
        }
        do {
          let author = Author("A")
          draft.author = author
          author.name = "B"
        }
        token.invalidate()
        return log.all
      }
      #expect(told([.old, .new]) == ["nil>A", "A>B", "B>nil"])
      #expect(told([.old, .new, .distinct]) == ["nil>A", "A>B", "B>nil"])
      #expect(told(.old) == ["nil>-", "A>-", "B>-"])
      #expect(told(.new) == ["->A", "->B", "->nil"])
    }

    @Test("of an expression on an actor is evaluated there")
    @MainActor
    func expressionOnActor() async {
      let (shared, panel) = (SharedDocument(), Panel())
      KeyValueSource {
        MainActor.assertIsolated()
        return shared.title
      }.onChange(initial: true, for: panel) { me, old, new in me.caption = "\(old)>\(new)" }
      shared.title = "A"
      #expect(panel.caption == ">A")
      await Task.detached { shared.title = "B" }.value
      while panel.caption != "A>B" { await Task.yield() }
      shared.title = "C"
      #expect(panel.caption == "B>C")
    }

    @Test("of a collection gives operators the whole collection, however it was changed")
    func collections() {
      let (document, log) = (Document(), Log<String>())
      let token = document.source(\.tags).map(\.count).onChange { old, new in log.add("\(old)>\(new)") }
      document.tags.append("A")
      let tags = document.mutableArrayValue(forKey: "tags")
      tags.append("B")
      tags.remove(at: 0)
      tags[0] = "C"
      tags.removeAll()
      #expect(log.all == ["0>1", "1>2", "2>1", "1>0"])
      token.invalidate()
    }

    @Test("refuses .prior after an operator, and .distinct for values that cannot be compared")
    func refusals() {
      let document = Document()
      let size = document.source(\.title).map { ($0.count, 0) }
      #expect(faults { _ = size.observe(options: .prior) { _ in } } == [8])
      #expect(faults { _ = size.observe(options: .distinct) { _ in } } == [8])
      var tokens: [NSKeyValueObservation] = []
      #expect(faults { document.source(\.title).observe(options: .prior) { _ in }.store(in: &tokens) } == [])
      var seen: [Int] = []
      document.source(\.title).map(\.count).observe(options: [.distinct, .new]) { seen.append($0.newValue!) }
        .store(in: &tokens)
      for title in ["A", "B", "CC"] { document.title = title }
      #expect(seen == [1, 2])
    }

    @Test("delivers on a queue, in order")
    func delivery() async {
      let (shared, log) = (SharedDocument(), Log<String>())
      let token = shared.source(\.title).map { $0.lowercased() }
        .delivered(on: MainActor.shared).onChange(initial: true) { old, new in log.add("\(old)>\(new)") }
      shared.title = "A"
      shared.title = "B"
      while log.all.count < 3 { await Task.yield() }
      #expect(log.all == [">", ">a", "a>b"])
      token.invalidate()
    }
  }
#endif
