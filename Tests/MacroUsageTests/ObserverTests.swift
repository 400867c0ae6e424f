// willSet and didSet: they run in an observable class as in a plain one.
#if Macros
  import KeyValueObserving
  import Testing

  /// The log of the bodies below.
  private nonisolated(unsafe) var log: [String] = []

  @KeyValueObservable
  private final class Watched {
    var volume = 0 {
      didSet {
        log.append("volume \(volume)")
        if volume > 10 { volume = 10 }
        if self.volume < 0 { self.volume = 0 }
      }
    }
    var named = 0 {
      willSet(next) { log.append("will \(named) \(next)") }
      didSet(last) { log.append("did \(last) \(named)") }
    }
    var early = 0 {
      willSet {
        if newValue == 1 { return }
        log.append("will \(newValue)")
      }
      didSet {
        guard oldValue != early else { return }
        log.append("did \(oldValue)")
      }
    }
    var width = 0 { didSet { if height != width { height = width } } }
    var height = 0 {
      didSet {
        log.append("height")
        width = height
      }
    }
    var nested = 0 {
      didSet {
        log.append("nested \(nested)")
        let clamp = { if self.nested > 5 { self.nested = 5 } }
        func raise() { if nested < 0 { nested = 0 } }
        clamp()
        raise()
      }
    }
    var list: [Int] = [] {
      didSet {
        log.append("list \(list.count)")
        list.append(0)
        list[0] += 1
      }
    }
    var shadow: Int? {
      didSet {
        log.append("shadow")
        if let shadow { log.append("is \(shadow)") } else { shadow = 7 }
        guard let shadow = self.shadow else { return }
        log.append("now \(shadow)")
      }
    }
    /// A label, a member of something else, and a key path that share the property's name.
    var other = 0 {
      didSet {
        let second = Second()
        log.append("\(second.other(other: other)) \(second[keyPath: \Second.other]) \(second.other)")
      }
    }
    /// Properties whose names are those of the parameters: there the parameter is meant.
    var oldValue = 0 {
      willSet { log.append("will \(oldValue) \(newValue)") }
      didSet {
        log.append("did \(oldValue) \(self.oldValue)")
        if self.oldValue > 5 { self.oldValue = oldValue }
      }
    }
    var newValue = 0 {
      willSet { log.append("will \(newValue) \(self.newValue)") }
      didSet {
        log.append("did \(oldValue) \(newValue)")
        if newValue > 5 { newValue = 5 }
      }
    }
    var itself: Int? {
      willSet(itself) { log.append("will \(itself as Any)") }
      didSet(itself) {
        if let itself { log.append("was \(itself)") }
        log.append("did \([1].map { [itself] in $0 + (itself ?? 0) })")
      }
    }
    var keyword = 0 {
      willSet(`default`) { log.append("will \(`default`)") }
      didSet(`class`) { log.append("did \(`class`)") }
    }
    var inWillSet = 0 { willSet { log.append("\(inWillSet) \(newValue)") } }
    var unwrapped: Int! = 1 { didSet { log.append("\(oldValue + 1)") } }
    var text = "" {
      willSet(unused) { log.append("text") }
      didSet {
        log.append(
          """
          \(text)

            \(oldValue) # " \\
          """)
        // A comment at the end.
      }
    }
  }

  private struct Second {
    var other = 42
    func other(other: Int) -> Int { other + 1000 }
  }

  @KeyValueObservable
  private final class Attached {
    weak var delegate: Author? { didSet { log.append("\(oldValue == nil) \(delegate == nil)") } }
    unowned var owner: Author { willSet { log.append("owner \(newValue.name)") } }
    init(_ owner: Author) { self.owner = owner }
  }

  @MainActor @KeyValueObservable
  private final class OnMainActor {
    var value = 0 {
      didSet {
        if value > 3 { value = 3 }
        changed()
      }
    }
    @NotObserved var count = 0
    func changed() { count += 1 }
  }

  @KeyValueObservable
  private final class Playlist {
    var songs: [Author] = [] { didSet { edits += 1 } }
    weak var selected: Author?
    @NotObserved var edits = 0
  }

  @Suite(.serialized) struct `willSet and didSet` {
    @Test(arguments: [false, true])
    func `willSet and didSet run as in plain Swift, of an observed object as of another`(isObserved: Bool) {
      let object = Watched()
      /// Expects what a change logs in the same class without the macro.
      func expect(_ lines: [String], _ change: () -> Void) {
        log = []
        change()
        #expect(log == lines)
      }
      let token = isObserved ? object.observe(\.volume) { _, _ in } : nil
      expect(["volume 20", "volume -20"]) {
        object.volume = 20
        object.volume -= 30
      }
      expect(["will 0 3", "did 0 3", "will 3 4", "did 3 4"]) {
        object.named = 3
        object.named += 1
      }
      expect(["did 0", "will 2", "did 1"]) { for value in [1, 1, 2] { object.early = value } }
      expect(["height", "height"]) {
        object.width = 5
        object.height = 6
      }
      expect(["nested 9", "nested 5", "nested -1", "nested 0"]) { for value in [9, -1] { object.nested = value } }
      expect(["list 1", "list 3"]) {
        object.list = [1]
        object.list.append(2)
      }
      expect(["shadow", "is 1", "now 1", "shadow", "now 7"]) { for value in [1, nil] { object.shadow = value } }
      expect(["1001 42 42"]) { object.other = 1 }
      expect(["will 0 4", "did 0 4", "will 4 9", "did 4 9"]) { for value in [4, 9] { object.oldValue = value } }
      expect(["will 4 0", "did 0 4", "will 13 4", "did 4 13"]) {
        object.newValue = 4
        object.newValue += 9
      }
      expect(["will Optional(1)", "did [1]", "will Optional(2)", "was 1", "did [2]"]) {
        for value in [1, 2] { object.itself = value }
      }
      expect(["will 3", "did 0"]) { object.keyword = 3 }
      expect(["0 2"]) { object.inWillSet = 2 }
      expect(["2"]) { object.unwrapped = 4 }
      expect(["text", "x\n\n   # \" \\"]) { object.text = "x" }
      #expect([object.volume, object.width, object.nested, object.oldValue, object.newValue] == [0, 6, 0, 4, 5])
      #expect(object.list == [3, 0, 2, 0] && object.shadow == 7 && object.itself == 2)
      token?.invalidate()
    }

    @Test func `An observer that the death of an element notifies may read the array, also with didSet`() {
      let playlist = Playlist()
      let keeper = Author()
      do {
        let song = Author()
        playlist.songs = [song]
        playlist.selected = song
      }
      playlist.onChange(of: \.selected, for: keeper) { [unowned playlist] _, _, _ in
        log.append("\(playlist.songs.count)")
      }
      log = []
      playlist.songs = []
      #expect(log == ["0"] && playlist.edits == 2)
    }

    @Test func `Observers receive a clamped value once, and never the value before clamping`() {
      let object = Watched()
      #expect(changes(of: object, \.volume) { object.volume = 20 } == ["0 -> 10"])
    }

    @Test func `Two properties that set each other notify each time`() {
      let object = Watched()
      #expect(changes(of: object, \.width) { object.width = 5 } == ["5 -> 5", "0 -> 5"])
    }

    @Test func `willSet and didSet work on weak and unowned properties`() {
      let (one, two) = (Author(), Author())
      two.name = "two"
      let object = Attached(one)
      log = []
      object.delegate = one
      _ = changes(of: object, \.owner) { object.owner = two }
      #expect(log == ["true false", "owner two"])
    }

    @Test @MainActor func `willSet and didSet work on the main actor`() {
      let object = OnMainActor()
      #expect(changes(of: object, \.value) { object.value = 9 } == ["0 -> 3"])
      #expect(object.count == 1)
    }
  }
#endif
