// Typed key paths through array indexes, whose elements are inserted and removed.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Page {
    var name: String
    var author: Page?
    var words: [String] = []
    init(_ name: String) { self.name = name }
  }

  @KeyValueObservable
  private final class Binder {
    var pages = [Page("a"), Page("b")]
    var spare: [Page]?
    var numbers = [1, 2, 3]
    var grid = [[1, 2], [3, 4]]
    var cover: Page? = Page("cover")
    var total: Int { numbers.reduce(0, +) }
  }

  /// Its lists are declared to depend on a key, or announced by hand.
  @KeyValueObservable
  private final class Folder {
    var version = 0
    var pages = [Page("a"), Page("b")]
    class func keyPathsForValuesAffectingPages() -> Set<String> { ["version"] }
    var words = ["a", "b"]
    class func automaticallyNotifiesObserversOfWords() -> Bool { false }
    var cover: Folder?
    var inner: [Folder] = []
    class func keyPathsForValuesAffectingInner() -> Set<String> { ["version"] }
    var title = "t"

    func announce(_ words: [String]) {
      willChangeValue(for: \.words)
      self.words = words
      didChangeValue(for: \.words)
    }
  }

  /// More keys affect its list than the runtime remembers reads of an evaluation.
  @KeyValueObservable
  private final class Register {
    var a = 0
    var b = 0
    var c = 0
    var d = 0
    var e = 0
    var f = 0
    var g = 0
    var h = 0
    var i = 0
    var j = 0
    var k = 0
    var l = 0
    var m = 0
    var n = 0
    var pages = [Page("a"), Page("b")]
    class func keyPathsForValuesAffectingPages() -> Set<String> { Set("abcdefghijklmn".map(String.init)) }
  }

  @Suite("Key paths through array indexes")
  struct IndexedPathTests {
    private let binder = Binder()
    private let log = Log()

    private func follow<Value>(_ path: KeyPath<Binder, Value>) -> NSKeyValueObservation {
      binder.observe(path, options: [.old, .new]) { [log] _, change in
        func text(_ value: Value?) -> String {
          guard let value else { return "none" }
          return "\(value)"
        }
        log.add("\(text(change.oldValue))>\(text(change.newValue))")
      }
    }

    @Test func `A path through an element has no value while the index is out of range`() {
      let token = follow(\.pages[1].name)
      binder.pages[1].name = "B"
      binder.pages.removeLast()
      binder.pages.removeLast()
      binder.pages = [Page("x"), Page("y"), Page("z")]
      binder.pages[1].name = "Y"
      #expect(log.lines == ["b>B", "B>none", "none>none", "none>y", "y>Y"])
      token.invalidate()
      #expect(binder.observationInfo == nil)
    }

    @Test func `An element that is a plain value, in a nested list, or in an optional list`() {
      let tokens = [follow(\.numbers[2]), follow(\.grid[1][0])]
      binder.numbers = []
      binder.grid = [[]]
      binder.grid = [[], [8]]
      binder.numbers = [4, 5, 6, 7]
      #expect(log.lines == ["3>none", "3>none", "none>8", "none>6"])
      for token in tokens { token.invalidate() }
      _ = log.take()
      binder.spare = [Page("s")]
      let spare = follow(\.spare?[0])
      binder.spare = []
      binder.spare = nil
      binder.spare = [Page("t")]
      let lines = log.lines
      #expect(lines.count == 3)
      #expect(
        lines.first?.hasSuffix(">none") == true && lines[1] == "none>nil" && lines.last?.hasPrefix("nil>") == true)
      spare.invalidate()
    }

    @Test func `An object after an element's property, and an index after an object`() {
      binder.pages[0].author = Page("ann")
      binder.cover!.words = ["one", "two"]
      let tokens = [follow(\.pages[0].author!.name), follow(\.cover!.words[1])]
      binder.pages[0].author!.name = "anna"
      binder.cover!.words[1] = "deux"
      for token in tokens { token.invalidate() }
      #expect(log.lines == ["ann>anna", "two>deux"])
    }

    @Test func `An element that is an object itself, behind others`() {
      let token = follow(\.pages[1])
      let before = binder.pages[1]
      binder.pages.removeFirst()
      binder.pages.append(before)
      #expect(log.lines.count == 2)
      #expect(log.lines.first?.hasSuffix(">none") == true && log.lines.last?.hasPrefix("none>") == true)
      token.invalidate()
    }

    @Test func `Changes of a collection after an index are delivered as such, and end with the element`() {

      let token = binder.observe(\.pages[1].words, options: [.new, .collectionChanges]) { [log] _, change in
        log.add("\(change.kind.rawValue) \(change.newValue ?? ["none"])")
      }
      binder.pages[1].words.append("w")
      binder.pages.removeLast()

      #expect(log.lines.first == "2 [\"w\"]")
      #expect(log.lines.count == 2)
      token.invalidate()
    }

    @Test func `A list that is declared to depend on a key, or announced by hand, may lose the element too`() {
      let folder = Folder()
      folder.cover = Folder()
      func follow<Value>(_ path: KeyPath<Folder, Value>) -> NSKeyValueObservation {
        folder.observe(path, options: [.old, .new]) { [log] _, change in
          log.add("\(change.oldValue.map { "\($0)" } ?? "none")>\(change.newValue.map { "\($0)" } ?? "none")")
        }
      }
      let tokens = [follow(\.pages[1].name), follow(\.words[1]), follow(\.cover!.words[1])]
      folder.pages.removeLast()
      folder.announce([])
      folder.announce(["c", "d"])
      folder.cover!.announce(["x"])
      folder.pages.append(Page("c"))
      #expect(log.take() == ["b>none", "b>none", "none>d", "b>none", "none>c"])
      for token in tokens { token.invalidate() }
      let changes = folder.observe(\.pages[1].words, options: [.new, .collectionChanges]) { [log] _, change in
        log.add("\(change.kind.rawValue) \(change.newValue ?? ["none"])")
      }
      folder.pages[1].words.append("w")
      folder.pages.removeLast()
      #expect(log.lines.first == "2 [\"w\"]" && log.lines.count == 2)
      changes.invalidate()
      #expect(folder.observationInfo == nil)
      folder.inner = [folder]
      let own = follow(\.inner[0].title)
      folder.inner = []
      #expect(log.take().last == "t>none")
      own.invalidate()
    }

    @Test func `A list that many keys affect may lose the element too`() {
      let register = Register()
      let token = register.observe(\.pages[1].name, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue ?? "none")>\(change.newValue ?? "none")")
      }
      register.pages[1].name = "c"
      register.pages.removeLast()
      register.pages.append(Page("d"))
      #expect(log.lines == ["b>c", "c>none", "none>d"])
      token.invalidate()
      #expect(register.observationInfo == nil)
    }

    @Test func `Whole values and several key paths have no value either while the element is missing`() {
      let tokens = [
        binder.source(\.pages[1].name, \.numbers).onChange(for: log) { $0.add("\($2.0) \($2.1.count)") },
        binder.onChange(of: \.pages[1].words) { [log] _, words in log.add("\(words)") },
        binder.source(\.pages[1].words).observe(options: .new) { [log] change in
          log.add("source \(change.newValue ?? ["none"])")
        },
        // A combination keeps the last value.
        KeyValueSource.combineLatest(binder.source(\.pages[1].name), binder.source(\.numbers)) { "\($0) \($1.count)" }
          .observe(options: .new) { [log] change in log.add("latest \(change.newValue ?? "none")") },
      ]
      binder.pages.removeLast()
      binder.numbers = []
      let page = Page("c")
      page.words = ["w"]
      binder.pages.append(page)
      binder.numbers = [1]
      #expect(
        log.take().filter { !$0.contains("none") }.sorted() == [
          "[\"w\"]", "c 0", "c 1", "latest b 0", "latest c 0", "latest c 1", "source [\"w\"]",
        ])
      for token in tokens { token.invalidate() }
      let collection = binder.observe(\.pages[1].words, options: [.old, .new, .collectionChanges]) { [log] _, change in
        log.add("\(change.kind.rawValue) \(change.oldValue ?? ["none"])")
      }
      binder.pages.removeLast()
      #expect(log.lines == ["1 [\"w\"]"])
      collection.invalidate()
    }
  }
#endif
