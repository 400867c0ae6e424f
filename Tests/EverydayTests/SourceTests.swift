// Sources: the values that they and their operators notify of, and how long they last.
#if Macros
  import CKVO
  import KeyValueObserving
  import Synchronization
  import Testing

  @KeyValueObservable
  private final class Draft {
    weak var author: Author?
  }

  @Suite("A source")
  struct SourceTests {
    private let document = Document()
    private let other = Document()
    private let log = Log<String>()

    /// Logs the old and the new values of a source.
    @discardableResult
    private func observe<Value>(
      _ source: KeyValueSource<Value>, _ options: NSKeyValueObservingOptions = [.old, .new]
    ) -> NSKeyValueObservation {
      source.observe(options: options, for: log) { log, change in
        log.add("\(change.oldValue.map { "\($0)" } ?? "-")>\(change.newValue.map { "\($0)" } ?? "-")")
      }
    }

    @Test("can be used several times, and observes nothing by itself")
    func severalTimes() {
      let panel = Panel()
      let title = document.source(\.title)
      #expect(kvo_object_observation_count(document.__keyValueObject) == 0)
      for _ in 1...2 { title.onChange(for: log) { log, _, new in log.add(new) } }
      title.onChange(for: panel) { me, _, new in me.caption = new }
      document.title = "A"
      #expect(log.all == ["A", "A"])
      #expect(panel.caption == "A" && title.value == "A")
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

    @Test("passes old and new values through operators, the old one being the one delivered before")
    func operators() {
      let shown = document.source(\.title).filter { !$0.isEmpty }.map { $0.uppercased() }.removeDuplicates()
      observe(shown, [.initial, .old, .new])
      for title in ["a", "A", "", "b"] { document.title = title }
      #expect(log.all == ["->A", "A>B"] && shown.value == "B")
      document.title = ""
      #expect(shown.value == nil)
    }

    @Test("of several objects ends for all when stopObserving ends it for one; that of an expression is no object's")
    func stopsForAll() {
      let (other, third) = (Document(), Document())
      let pages = [document, other, third].map { $0.source(\.pages) }
      let sources: [KeyValueSource<Int>] = [
        .combineLatest(pages[0], pages[1]) { $0 * 10 + $1 }, .merge(pages[0], pages[1], pages[2]),
      ]
      for each in [document, other] {
        for source in sources {
          let ends = Log<NSKeyValueObservation.EndReason>()
          let token = source.onChange(for: log) { log, _, new in log.add("\(new)") }
          token.onEnd { ends.add($0) }
          each.stopObserving(for: log)
          #expect(!token.isActive && ends.all == [.invalidated])
          for one in [document, other, third] { one.pages += 1 }
        }
      }
      #expect(log.all == [])
      let expression = KeyValueSource { [document] in document.pages }.onChange(for: log) { log, _, _ in
        log.add("called")
      }
      document.stopObserving(for: log)
      document.pages += 1
      #expect(log.all == ["called"])
      stopObservingAll(for: log)
      #expect(!expression.isActive)
    }

    @Test("goes on with the other objects when one is deallocated in the initial call")
    func deathInInitialCall() {
      let other = Document()
      var first: Document? = Document()
      let merged = KeyValueSource.merge(first!.source(\.pages), other.source(\.pages))
      let token = merged.observe(options: [.initial, .new], for: log) { log, change in
        first = nil
        log.add("\(change.newValue!)")
      }
      other.pages = 7
      #expect(first == nil && log.all == ["0", "0", "7"] && token.isActive)
    }

    @Test("leaves out what compactMap makes nil, and gives onChange a value in place of a missing old one")
    func compactMap() {
      document.source(\.title).compactMap { Int($0) }.onChange(for: log) { log, old, new in log.add("\(old)>\(new)") }
      for title in ["x", "1", "y", "2"] { document.title = title }
      #expect(log.all == ["1>1", "1>2"])
    }

    @Test("has the value delivered last as the old one, whatever removeDuplicates leaves out between")
    func duplicates() {
      typealias Source = KeyValueSource<Int>
      let areAlike: @Sendable (Int, Int) -> Bool = { $0 % 4 == $1 % 4 }
      func values(_ options: NSKeyValueObservingOptions = [.old, .new], _ make: (Source) -> Source) -> [String] {
        let before = log.all.count
        document.pages = 0
        let token = observe(make(document.source(\.pages)), options)
        for pages in [1, 5, 9, 2, 6, 2, 6, 3] { document.pages = pages }
        token.invalidate()
        return Array(log.all.dropFirst(before))
      }
      #expect(values { $0.removeDuplicates(by: areAlike) } == ["0>1", "1>2", "2>3"])
      #expect(values { $0.removeDuplicates(by: areAlike).map { $0 + 100 } } == ["100>101", "101>102", "102>103"])
      #expect(values { $0.map { $0 }.removeDuplicates(by: areAlike).removeDuplicates() } == ["0>1", "1>2", "2>3"])
      #expect(values { .merge($0.removeDuplicates(by: areAlike)) } == ["0>1", "1>2", "2>3"])
      #expect(values([.initial, .old, .new]) { $0.removeDuplicates(by: areAlike) } == ["->0", "0>1", "1>2", "2>3"])
      #expect(values(.new) { $0.removeDuplicates(by: areAlike) } == ["->1", "->2", "->3"])
      #expect(values { $0.removeDuplicates { abs($0 - $1) < 4 } } == ["0>5", "5>9", "9>2", "2>6", "6>2", "2>6"])
    }

    @Test("has the old value as it was delivered, though values that are equal to it, and differ, were left out")
    func equalValues() {
      struct Name: Equatable {
        let text: String
        static func == (one: Self, other: Self) -> Bool { one.text.lowercased() == other.text.lowercased() }
      }
      let names = document.source(\.title).map { Name(text: $0) }
      let forms: [(KeyValueSource<Name>, NSKeyValueObservingOptions)] = [
        (names.removeDuplicates(), [.old, .new]), (names, [.old, .new, .distinct]),
      ]
      for (source, options) in forms {
        source.observe(options: options, for: log) { log, change in
          log.add("\(change.oldValue!.text)>\(change.newValue!.text)")
        }
      }
      for title in ["Emma", "EMMA", "emma", "Persuasion"] { document.title = title }
      #expect(log.all == [">Emma", ">Emma", "Emma>Persuasion", "Emma>Persuasion"])
    }

    @Test("whose duplicates are removed has the value delivered last as the old one, and keeps no object")
    func duplicatesOfObjects() {
      let pages = document.source(\.pages).removeDuplicates { $0 % 4 == $1 % 4 }
      pages.onChange(for: log) { log, old, new in log.add("\(old)>\(new)") }
      for pages in [1, 5] { document.pages = pages }
      withoutNotifying(document) { document.pages = 6 }
      document.pages = 1  // what was delivered last
      document.pages = 6
      #expect(log.all == ["0>1", "1>6"])
      let draft = Draft()
      weak var known: Author?
      draft.source(\.author).removeDuplicates { $0 === $1 }.observe(options: [.old, .new], for: log) { log, change in
        log.add(change.newValue! == nil ? "nobody" : "author")
      }
      do {
        let author = Author("A")
        known = author
        for _ in 1...2 { draft.author = author }
      }
      #expect(known == nil)
      #expect(log.all.suffix(2) == ["author", "nobody"])
    }

    @Test("whose operators filter, convert and merge keeps no object, and has the source's own old value of one")
    func operatorsOnObjects() {
      let (draft, second) = (Draft(), Draft())
      weak var known: Author?
      let authors = KeyValueSource.merge(draft.source(\.author), second.source(\.author))
      let sources: [KeyValueSource<Author>] = [
        draft.source(\.author).compactMap { (author: Author?) -> Author? in author },
        draft.source(\.author).filter { (author: Author?) in author != nil }.map { $0! },
        authors.compactMap { (author: Author?) -> Author? in author },
      ]
      for source in sources {
        source.observe(options: [.initial, .old, .new], for: log) { log, change in
          log.add("\(change.oldValue?.name ?? "-")>\(change.newValue!.name)")
        }
        source.onChange(for: log) { log, old, new in log.add("onChange \(old.name)>\(new.name)") }
      }
      do {
        let authors = [Author("A"), Author("B")]
        known = authors[1]
        for author in authors { draft.author = author }
      }
      #expect(known == nil && draft.author == nil)
      #expect(log.all(after: "onChange").sorted() == ["A>A", "A>A", "A>A", "A>B", "A>B", "A>B"])
      #expect(log.all.filter { !$0.hasPrefix("on") }.sorted() == ["->A", "->A", "->A", "A>B", "A>B", "A>B"])
    }

    @Test("that merges objects notifies of one that its source had before another source passed one")
    func mergedAgain() {
      let (first, second, authors) = (Draft(), Draft(), [Author("A"), Author("B")])
      second.author = authors[1]
      let merged = KeyValueSource.merge(first.source(\.author), second.source(\.author))
      merged.removeDuplicates { $0 === $1 }.observe(options: .new, for: log) { log, change in
        log.add(change.newValue!?.name ?? "-")
      }
      first.author = authors[0]
      for _ in 1...2 { second.author = authors[1] }
      #expect(log.all == ["A", "B"])
    }

    @Test("combines the latest values of any number of sources of any types")
    func combineLatest() {
      let all = KeyValueSource.combineLatest(
        document.source(\.pages), other.source(\.title).filter { !$0.isEmpty }, other.source(\.pages)
      ) { "\($0) \($1) \($2)" }
      let token = observe(all, [.initial, .old, .new])
      document.pages = 1
      for title in ["A", ""] { other.title = title }
      other.pages = 2
      #expect(log.all == ["->1 A 0", "1 A 0>1 A 2"])
      #expect(all.value == nil)
      token.invalidate()
      document.pages = 3
      #expect(log.all.count == 2)
    }

    @Test("that combines two sources of one property notifies once of a change, and of no mixture of old and new")
    func diamond() {
      let pages = document.source(\.pages)
      let token = observe(KeyValueSource.combineLatest(pages, pages.map { $0 * 10 }) { "\($0) \($1)" })
      for pages in [1, 2] { document.pages = pages }
      #expect(log.all == ["0 0>1 10", "1 10>2 20"])
      token.invalidate()
      #expect(kvo_object_observation_count(document.__keyValueObject) == 0)
    }

    @Test("of several objects lasts until the last of them is deallocated")
    func lastObject() {
      var (one, other): (Document?, Document?) = (Document(), Document())
      let token = observe(KeyValueSource.combineLatest(one!.source(\.pages), other!.source(\.pages)) { $0 + $1 }, .new)
      one!.pages = 1
      one = nil
      other!.pages = 2
      #expect(log.all == ["->1", "->3"])
      #expect(token.isActive)
      other = nil
      #expect(!token.isActive)
    }

    @Test("merges the changes of several sources, and has the value of the first one that has one")
    func merge() {
      let titles = [document, other].map { $0.source(\.title).filter { !$0.isEmpty } }
      let merged = KeyValueSource.merge(titles[0], titles[1])
      #expect(merged.value == nil)
      let token = observe(merged, [.initial, .old, .new])
      other.title = "A"
      #expect(merged.value == "A")
      document.title = "B"
      #expect(merged.value == "B")
      other.title = "C"
      #expect(log.all == ["->A", "A>B", "B>C"])
      token.invalidate()
      #expect(document.observationInfo == nil && other.observationInfo == nil)
    }

    @Test("gives an operator the values that it needs, whatever values are asked of it")
    func needed() {
      let count = document.source(\.title).map(\.count)
      let all = [
        count, count.filter { $0 >= 0 }, count.removeDuplicates(), KeyValueSource.merge(count, other.source(\.pages)),
        KeyValueSource.combineLatest(count, other.source(\.pages)) { $0 + $1 },
      ]
      for source in all { for options: NSKeyValueObservingOptions in [[], .old] { observe(source, options) } }
      document.title = "A"
      #expect(log.all.sorted() == Array(repeating: "->-", count: 5) + Array(repeating: "0>-", count: 5))
    }

    @Test("of an expression depends on what it has read last")
    func expression() {
      let (one, other) = (document, other)
      let shown = KeyValueSource { one.pages > 0 ? one.title : other.title }
      observe(shown)
      one.title = "A"
      other.title = "B"
      one.pages = 1
      other.title = "C"
      one.title = "D"
      #expect(log.all == [">B", "B>A", "A>D"] && shown.value == "D")
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

    @Test("of an expression has its last value as the old one when a weakly referenced object dies")
    func expressionOfWeak() {
      func values(_ options: NSKeyValueObservingOptions) -> [String] {
        let (draft, before) = (Draft(), log.all.count)
        let token = observe(KeyValueSource { draft.author?.name ?? "nil" }, options)
        do {
          let author = Author("A")
          draft.author = author
          author.name = "B"
        }
        token.invalidate()
        return Array(log.all.dropFirst(before))
      }
      #expect(values([.old, .new]) == ["nil>A", "A>B", "B>nil"])
      #expect(values([.old, .new, .distinct]) == ["nil>A", "A>B", "B>nil"])
      #expect(values(.old) == ["nil>-", "A>-", "B>-"])
      #expect(values(.new) == ["->A", "->B", "->nil"])
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
      document.source(\.tags).map(\.count).onChange(for: log) { log, old, new in log.add("\(old)>\(new)") }
      document.tags.append("A")
      let tags = document.mutableArrayValue(forKey: "tags")
      tags.append("B")
      tags.remove(at: 0)
      tags[0] = "C"
      tags.removeAll()
      #expect(log.all == ["0>1", "1>2", "2>1", "1>0"])
    }

    @Test("refuses .prior after an operator, .distinct of what cannot be compared, .endsWithObserver of no observer")
    func refusals() {
      for source in [
        document.source("title", as: String.self), document.source(\.title), document.source(\.title).map { $0 },
      ] {
        #expect(faults { _ = source.observe(options: .endsWithObserver) { _ in } } == [8])
      }
      let size = document.source(\.title).map { ($0.count, 0) }
      #expect(faults { _ = size.observe(options: .prior) { _ in } } == [8])
      #expect(faults { _ = size.observe(options: .distinct) { _ in } } == [8])
      #expect(faults { _ = document.source(\.title).observe(options: .prior) { _ in } } == [])
      observe(document.source(\.title).map(\.count), [.distinct, .new])
      for title in ["A", "B", "CC"] { document.title = title }
      #expect(log.all == ["->1", "->2"])
    }
  }

  @Suite("Sources and threads")
  struct SourceThreadTests {
    @Test("combineLatest delivers the last values last, though each source is set on a thread of its own")
    func lastIsLast() async {
      for round in 0..<1500 {
        let (left, right, log) = (SharedCounter(), SharedCounter(), Log<Int>())
        let both = KeyValueSource.combineLatest(left.source(\.number), right.source(\.number)) { $0 * 100 + $1 }
        let token = both.observe(options: [.new]) { change in log.add(change.newValue!) }
        let ready = Atomic(0)
        await onThreads(2) { thread in
          ready.add(1, ordering: .relaxed)
          while ready.load(ordering: .relaxed) < 2 {}
          for number in 1...3 { (thread == 0 ? left : right).number = number }
        }
        #expect(log.all.last == 303, "round \(round)")
        token.invalidate()
      }
    }

    @Test("combineLatest notifies of no value that is older than the one before")
    func neverBackwards() async {
      for _ in 0..<20 {
        let (left, right, steps) = (SharedCounter(), SharedCounter(), Log<[Int]>())
        let both = KeyValueSource.combineLatest(left.source(\.number), right.source(\.number)) { [$0, $1] }
        let token = both.observe(options: [.new]) { change in steps.add(change.newValue!) }
        await onThreads(2) { thread in
          for number in 1...500 { (thread == 0 ? left : right).number = number }
        }
        token.invalidate()
        let all = steps.all
        #expect(all.last == [500, 500])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0[0] <= $1[0] && $0[1] <= $1[1] })
      }
    }

    @Test("combineLatest has the last values, though another thread sets a source while it is read to observe it")
    func nothingIsMissed() async {
      for isFirst in [true, false] {
        let (counter, other, log) = (SharedCounter(), SharedCounter(), Log<String>())
        let numbers = (isFirst ? [counter, other] : [other, counter]).map { $0.source(\.number) }
        let both = KeyValueSource.combineLatest(numbers[0], numbers[1]) { isFirst ? "\($0) \($1)" : "\($1) \($0)" }
        for (number, options) in [(7, [.initial, .new]), (8, [.old, .new])] as [(Int, NSKeyValueObservingOptions)] {
          counter.setWhenRead(to: number)
          let token = both.observe(options: options) { change in
            log.add("\(change.oldValue ?? "-")>\(change.newValue!)")
          }
          other.number += 1
          token.invalidate()
        }
        #expect(log.all.filter { $0 != "->7 0" } == ["->7 1", "8 1>8 2"])
        #expect(log.all.contains("->7 0"))
      }
    }
  }
#endif
