// Key paths that may have no value: through array indexes, whose elements are inserted and removed, through `!` and implicitly unwrapped
// properties, while what is unwrapped is nil, and through keys of dictionaries.
#if Macros
  import KeyValueObserving
  import Testing

  private struct Size { var width = 1 }

  @KeyValueObservable
  private final class Sheet: NSKeyValueObservingCustomization {
    var name: String
    var next: Sheet!
    var spare: Sheet?
    weak var owner: Sheet?
    var number: Int? = 3
    var parts: [Sheet] = []
    var tags: [String] = []
    var size = Size()
    init(_ name: String = "new") { self.name = name }

    /// Declared to depend on a path with a forced component.
    var text: String { spare?.name ?? "none" }
    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \Sheet.text ? [\Sheet.spare!.name] : []
    }
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
  }

  @KeyValueObservable
  private final class Binder {
    var pages = [Sheet("a"), Sheet("b")]
    var spare: [Int]?
    var numbers = [1, 2, 3]
    var grid = [[1, 2], [3, 4]]
    var cover: Sheet? = Sheet("cover")
    var info: KeyValueDictionary?
  }

  /// Its lists are declared to depend on a key, or announced by hand.
  @KeyValueObservable
  private final class Folder {
    var version = 0
    var pages = [Sheet("a"), Sheet("b")]
    class func keyPathsForValuesAffectingPages() -> Set<String> { ["version"] }
    var words = ["a", "b"]
    class func automaticallyNotifiesObserversOfWords() -> Bool { false }
    var cover: Folder?

    func announce(_ words: [String]) {
      willChangeValue(for: \.words)
      self.words = words
      didChangeValue(for: \.words)
    }
  }

  /// More keys affect its list than the runtime remembers reads of an evaluation.
  @KeyValueObservable
  private final class Register {
    var pages = [Sheet("a"), Sheet("b")]
    class func keyPathsForValuesAffectingPages() -> Set<String> { Set("abcdefghijklmn".map(String.init)) }
    func value(forUndefinedKey key: String) -> Any? { nil }
  }

  @Suite("Key paths that may have no value")
  struct MissingValueTests {
    private let binder = Binder()
    private let sheet = Sheet()
    private let log = Log()

    @Test func `A path through an element has no value while the index is out of range`() {
      let token = binder.log(\.pages[1].name, to: log)
      binder.pages[1].name = "B"
      binder.pages.removeLast()
      binder.pages.removeLast()
      binder.pages = [Sheet("x"), Sheet("y"), Sheet("z")]
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
      binder.pages[0].spare = Sheet("ann")
      binder.cover!.tags = ["one", "two"]
      let tokens = [binder.log(\.pages[0].spare!.name, to: log), binder.log(\.cover!.tags[1], to: log)]
      binder.pages[0].spare!.name = "anna"
      binder.cover!.tags[1] = "deux"
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
      folder.pages.append(Sheet("c"))
      #expect(log.take() == ["b>-", "b>-", "->d", "b>-", "->c"])
      for token in tokens { token.invalidate() }
      let changes = folder.observe(\.pages[1].tags, options: [.new, .collectionChanges]) { [log] _, change in
        log.add("\(change.kind) \(change.newValue ?? ["none"])")
      }
      folder.pages[1].tags.append("w")
      folder.pages.removeLast()
      #expect(log.take().first == "insertion [\"w\"]")
      changes.invalidate()
      #expect(folder.observationInfo == nil)
    }

    @Test func `A list that many keys affect may lose the element too`() {
      let register = Register()
      let token = register.log(\.pages[1].name, to: log)
      register.pages[1].name = "c"
      register.pages.removeLast()
      register.pages.append(Sheet("d"))
      #expect(log.lines == ["b>c", "c>-", "->d"])
      token.invalidate()
      #expect(register.observationInfo == nil)
    }

    @Test func `Whole values and several key paths have no value either while the element is missing`() {
      let tokens = [
        binder.source(\.pages[1].name, \.numbers).onChange(for: log) { $0.add("\($2.0) \($2.1.count)") },
        binder.onChange(of: \.pages[1].tags) { [log] _, tags in log.add("\(tags)") },
        binder.source(\.pages[1].tags).observe(options: .new) { [log] change in
          log.add("source \(change.newValue ?? ["none"])")
        },
        // A combination keeps the last value.
        KeyValueSource.combineLatest(binder.source(\.pages[1].name), binder.source(\.numbers)) { "\($0) \($1.count)" }
          .observe(options: .new) { [log] change in log.add("latest \(change.newValue ?? "none")") },
      ]
      binder.pages.removeLast()
      binder.numbers = []
      let page = Sheet("c")
      page.tags = ["w"]
      binder.pages.append(page)
      binder.numbers = [1]
      #expect(
        log.take().filter { !$0.contains("none") }.sorted() == [
          "[\"w\"]", "c 0", "c 1", "latest b 0", "latest c 0", "latest c 1", "source [\"w\"]",
        ])
      for token in tokens { token.invalidate() }
      let collection = binder.observe(\.pages[1].tags, options: [.old, .new, .collectionChanges]) { [log] _, change in
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

    @Test func `A path through an implicitly unwrapped property has no value while that is nil`() {
      let token = sheet.log(\.next.name, [.initial, .prior, .old, .new], to: log)
      sheet.next = Sheet("a")
      sheet.next = nil
      sheet.next = nil
      #expect(log.lines == ["->-", "prior ->-", "->a", "prior a>-", "a>-", "prior ->-", "->-"])
      token.invalidate()
      #expect(sheet.observationInfo == nil)
    }

    @Test func `A path with a forced and an optional component has a value up to the forced one`() {
      for (path, lines) in [
        (\Sheet.spare!.spare?.name, ["->nil", "nil>a", "a>-"]), (\Sheet.spare?.spare!.name, ["nil>-", "->a", "a>nil"]),
      ] {
        let token = sheet.log(path, to: log)
        sheet.spare = Sheet()
        sheet.spare!.spare = Sheet("a")
        sheet.spare = nil
        #expect(log.take() == lines)
        token.invalidate()
      }
    }

    @Test func `A forced value that is no object, or a weak object that is deallocated, is no value while it is nil`() {
      var owner: Sheet? = Sheet("a")
      sheet.owner = owner
      let tokens = [sheet.log(\.number!, to: log), sheet.log(\.owner!.name, to: log)]
      sheet.number = nil
      sheet.number = 4
      sheet.number = 5
      owner = nil
      #expect(log.lines == ["3>-", "->4", "4>5", "a>-"])
      withExtendedLifetime((tokens, owner)) {}
    }

    @Test func `What follows the forced object may be a member of a value or an element of an array`() {
      let width = sheet.log(\.next.size.width, to: log)
      let count = sheet.log(\.next.name.count, as: "count ", to: log)
      let part = sheet.log(\.next.parts[0].name, as: "part ", to: log)
      let next = Sheet("abc")
      next.parts = [Sheet("p")]
      sheet.next = next
      #expect(log.take() == ["part ->p", "count ->3", "->1"])
      next.size.width = 2
      next.name = "ab"
      next.parts[0].name = "q"
      next.parts = []
      #expect(log.take() == ["1>2", "count 3>2", "part p>q", "part q>-"])
      sheet.next = nil
      #expect(log.take() == ["part ->-", "count 2>-", "2>-"])
      withExtendedLifetime((width, count, part)) {}
    }

    @Test func `A source of such a path has no value, and a binding sets nothing, while it is nil`() {
      let other = Sheet()
      let source = sheet.source(\.next.name)
      #expect(source.value == nil)
      let token = source.bind(to: other, \.name)
      sheet.next = Sheet("a")
      #expect(other.name == "a" && source.value == "a")
      sheet.next = nil
      #expect(other.name == "a" && source.value == nil)
      token.invalidate()
    }

    @Test func `A declared dependency may have a forced component that is nil`() {
      let token = sheet.log(\.text, to: log)
      sheet.spare = Sheet("a")
      sheet.spare!.name = "b"
      sheet.spare = nil
      #expect(log.lines == ["none>a", "a>b", "b>none"])
      token.invalidate()
    }
  }
#endif
