// How observed key paths are followed: what a change evaluates, long paths, and paths that have no value at first.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Bulb {
    var light = "dim"
  }

  @KeyValueObservable
  private class Hall {
    var bulb: Bulb?
  }

  /// Counts how often its property is read.
  private final class CountingHall: Hall {
    var reads = 0
    override var bulb: Bulb? {
      get {
        reads += 1
        return super.bulb
      }
      set { super.bulb = newValue }
    }
  }

  @KeyValueObservable
  private final class Sheet {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @KeyValueObservable
  private final class Stack {
    var sheets = [Sheet("a"), Sheet("b")]
    var spare: [Sheet]?
  }

  @KeyValueObservable
  private final class Pinboard {
    var count = 0
    weak var sheet: Sheet?
    var label: String { "\(sheet?.name ?? "-")\(count)" }
  }

  @KeyValueObservable
  private final class Drawer {
    var inner = Stack()
  }

  @KeyValueObservable
  private final class Desk {
    var inner = Drawer()
  }

  @KeyValueObservable
  private final class Room {
    var inner = Desk()
  }

  @KeyValueObservable
  private final class Floor {
    var inner = Room()
  }

  @KeyValueObservable
  private final class House {
    var inner = Floor()
  }

  @KeyValueObservable
  private final class Street {
    var inner = House()
  }

  @KeyValueObservable
  private final class Town {
    var inner = Street()
  }

  @KeyValueObservable
  private final class Region {
    var inner = Town()
  }

  @KeyValueObservable
  private final class Land {
    var inner = Region()
  }

  @KeyValueObservable
  private final class Tray {
    var sheet: Sheet? = Sheet("a")
    class func automaticallyNotifiesObserversOfSheet() -> Bool { false }
  }

  @KeyValueObservable
  private final class Stand {
    @NotObserved var sheet: Sheet? = Sheet("a")
    var names: String { sheet?.name ?? "none" }
  }

  @Suite("Following key paths")
  struct PathFollowingTests {
    private let log = Log()

    private func follow<Root: KeyValueObservable, Value>(
      _ object: Root, _ path: KeyPath<Root, Value>
    ) -> NSKeyValueObservation {
      object.observe(path, options: [.old, .new]) { [log] _, change in
        func text(_ value: Value?) -> String {
          guard let value else { return "none" }
          return "\(value)"
        }
        log.add("\(text(change.oldValue))>\(text(change.newValue))")
      }
    }

    @Test func `From the registration on, a change of the last property does not evaluate the path`() {
      let (counting, bulb) = (CountingHall(), Bulb())
      let hall: Hall = counting
      hall.bulb = bulb
      let token = hall.log(\.bulb?.light, to: log)
      let before = counting.reads
      bulb.light = "bright"
      #expect(counting.reads == before)
      #expect(log.lines == ["dim>bright"])
      token.invalidate()
    }

    @Test func `With a string key path, a change of the last property reads the path before it once at most`() {
      let (counting, bulb, watcher) = (CountingHall(), Bulb(), Watcher(log))
      let hall: Hall = counting
      hall.bulb = bulb
      hall.addObserver(watcher, forKeyPath: "bulb.light", options: [.old, .new])
      let before = counting.reads
      bulb.light = "bright"
      #expect(counting.reads <= before + 1)
      hall.removeObserver(watcher, forKeyPath: "bulb.light")
      #expect(log.lines == ["bulb.light dim>bright"])
    }

    @Test func `A classic observer is told the old value when a weakly referenced object of another class dies`() {
      let (document, watcher) = (Document(), Watcher(log))
      var reviewer: Person? = Person(name: "Ann")
      document.reviewer = reviewer
      document.addObserver(watcher, forKeyPath: "reviewer.name", options: [.old, .new])
      reviewer?.name = "Bob"
      reviewer = nil
      document.removeObserver(watcher, forKeyPath: "reviewer.name")
      #expect(log.lines == ["reviewer.name Ann>Bob", "reviewer.name Bob><null>"])
    }

    @Test func `A path through eleven properties has no value while its index is out of range`() {
      let land = Land()
      let token = follow(land, \.inner.inner.inner.inner.inner.inner.inner.inner.inner.sheets[1].name)
      let stack = land.inner.inner.inner.inner.inner.inner.inner.inner.inner
      stack.sheets[1].name = "B"
      stack.sheets.removeLast()
      stack.sheets.append(Sheet("c"))
      #expect(log.lines == ["b>B", "B>none", "none>c"])
      token.invalidate()
    }

    @Test func `The death of what was replaced without notification is no change, and no getter runs in the store`() {
      let (tray, stand) = (Tray(), Stand())
      let tokens = [follow(tray, \.sheet?.name), follow(stand, \.sheet?.name), follow(stand, \.names)]
      tray.sheet?.name = "b"
      stand.sheet?.name = "c"
      #expect(log.lines.count == 3)
      (tray.sheet, stand.sheet) = (nil, nil)  // Swift would end the process if a getter read them now
      #expect(log.lines.count == 3)
      for token in tokens { token.invalidate() }
    }

    @Test func `After a weak object has died, a change within the next one is told once, with the value told last`() {
      let board = Pinboard()
      var first: Sheet? = Sheet("a")
      board.sheet = first
      let tokens = [
        board.observe(\.label, options: [.prior, .old, .new]) { [log] board, change in
          log.add("\(change.oldValue!)>\(change.isPrior ? board.label + "?" : change.newValue!)")
        },
        board.observe(\.sheet) { board, _ in if board.sheet != nil { board.count += 1 } },  // called first
      ]
      withExtendedLifetime(first) {}
      first = nil
      let second = Sheet("b")
      board.sheet = second
      #expect(log.lines == ["a0>-0", "-0>-0?", "-0>b1"])
      withExtendedLifetime((second, tokens)) {}
    }

    @Test func `A path through an element of an optional list that is nil at first has no value out of range`() {
      let stack = Stack()
      let token = follow(stack, \.spare?[0])
      stack.spare = [Sheet("s")]
      stack.spare = []
      #expect(log.lines.count == 2)
      #expect(log.lines.first?.hasPrefix("nil>") == true && log.lines.last?.hasSuffix(">none") == true)
      token.invalidate()
    }
  }
#endif
