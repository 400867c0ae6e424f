// Typed key paths through array indexes, whose elements are inserted and removed, and through keys of dictionaries.
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
    var spare: [Int]?
    var numbers = [1, 2, 3]
    var grid = [[1, 2], [3, 4]]
    var cover: Page? = Page("cover")
    var info: KeyValueDictionary?
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
    var pages = [Page("a"), Page("b")]
    class func keyPathsForValuesAffectingPages() -> Set<String> { Set("abcdefghijklmn".map(String.init)) }
    func value(forUndefinedKey key: String) -> Any? { nil }
  }

  @Suite("Key paths through array indexes")
  struct IndexedPathTests {
    private let binder = Binder()
    private let log = Log()

    @Test func `A path through an element has no value while the index is out of range`() {
      let token = binder.log(\.pages[1].name, to: log)
      binder.pages[1].name = "B"
      binder.pages.removeLast()
      binder.pages.removeLast()
      binder.pages = [Page("x"), Page("y"), Page("z")]
      binder.pages[1].name = "Y"
      #expect(log.lines == ["b>B", "B>-", "->-", "->y", "y>Y"])
      token.invalidate()
      #expect(binder.observationInfo == nil)
    }

    @Test func `An element may be a plain value, in a nested list, or in an optional list`() {
      let tokens = [binder.log(\.numbers[2], to: log), binder.log(\.grid[1][0], to: log)]
      binder.numbers = []
      binder.grid = [[]]
      binder.grid = [[], [8]]
      binder.numbers = [4, 5, 6, 7]
      #expect(log.take() == ["3>-", "3>-", "->8", "->6"])
      let spare = binder.log(\.spare?[0], to: log)
      binder.spare = [1]
      binder.spare = []
      binder.spare = nil
      binder.spare = [2]
      #expect(log.lines == ["nil>1", "1>-", "->nil", "nil>2"])
      withExtendedLifetime((tokens, spare)) {}
    }

    @Test func `An element may be an object, also behind others, with objects and indexes behind it`() {
      binder.pages[0].author = Page("ann")
      binder.cover!.words = ["one", "two"]
      let tokens = [binder.log(\.pages[0].author!.name, to: log), binder.log(\.cover!.words[1], to: log)]
      binder.pages[0].author!.name = "anna"
      binder.cover!.words[1] = "deux"
      #expect(log.take() == ["ann>anna", "two>deux"])
      for token in tokens { token.invalidate() }
      let object = binder.observe(\.pages[1], options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue?.name ?? "-")>\(change.newValue?.name ?? "-")")
      }
      let last = binder.pages[1]
      binder.pages.removeFirst()
      binder.pages.append(last)
      #expect(log.lines.count == 2)
      #expect(log.lines.first?.hasSuffix(">-") == true && log.lines.last == "->b")
      object.invalidate()
    }

    @Test func `A list that is declared to depend on a key, or announced by hand, may lose the element too`() {
      let folder = Folder()
      folder.cover = Folder()
      let tokens = [
        folder.log(\.pages[1].name, to: log), folder.log(\.words[1], to: log), folder.log(\.cover!.words[1], to: log),
      ]
      folder.pages.removeLast()
      folder.announce([])
      folder.announce(["c", "d"])
      folder.cover!.announce(["x"])
      folder.pages.append(Page("c"))
      #expect(log.take() == ["b>-", "b>-", "->d", "b>-", "->c"])
      for token in tokens { token.invalidate() }
      let changes = folder.observe(\.pages[1].words, options: [.new, .collectionChanges]) { [log] _, change in
        log.add("\(change.kind) \(change.newValue ?? ["none"])")
      }
      folder.pages[1].words.append("w")
      folder.pages.removeLast()
      #expect(log.take().first == "insertion [\"w\"]")
      changes.invalidate()
      #expect(folder.observationInfo == nil)
      folder.inner = [folder]
      let own = folder.log(\.inner[0].title, to: log)
      folder.inner = []
      #expect(log.take().last == "t>-")
      own.invalidate()
    }

    @Test func `A list that many keys affect may lose the element too`() {
      let register = Register()
      let token = register.log(\.pages[1].name, to: log)
      register.pages[1].name = "c"
      register.pages.removeLast()
      register.pages.append(Page("d"))
      #expect(log.lines == ["b>c", "c>-", "->d"])
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
        log.add("\(change.kind) \(change.oldValue ?? ["none"])")
      }
      binder.pages.removeLast()
      #expect(log.lines == ["setting [\"w\"]"])
      collection.invalidate()
    }

    @Test func `An entry of a dictionary object on a typed path is observed, also while it is absent`() {
      let token = binder.observe(\.info?["pages"], options: [.new]) { [log] _, change in
        log.add("\(change.newValue as Any)")
      }
      let info = KeyValueDictionary(["pages": 1])
      binder.info = info
      info["pages"] = 2
      binder.info = nil
      info["pages"] = 3
      #expect(log.lines.count == 3)
      token.invalidate()
      #expect(info.observationInfo == nil)
    }
  }
#endif
