// How observed key paths are followed: what a change evaluates, overridden properties at the end, and objects that are replaced or die.
#if Macros
  import KeyValueObserving
  import Testing

  /// A structure that fills an allocated block.
  private struct Size: CustomStringConvertible {
    var width = 0, height = 0, depth = 0
    var description: String { "\(width) \(depth)" }
  }

  @KeyValueObservable
  private class Part {
    var next: Part?
    var value = 0
    var voice: String
    var size = Size()
    init(_ voice: String = "low") { self.voice = voice }
    func shown(_ value: Int) -> Int { value }
  }

  @KeyValueObservable
  private final class Gear: Part {
  }

  /// What leads to its parts is not observed.
  @KeyValueObservable
  private final class Box {
    let part = Part()
    @NotObserved var spare: Part? = Part()
  }

  @KeyValueObservable
  private final class Shelf {
    var box = Box()
    var more: Box?
  }

  /// A class without the macro, which overrides the properties of paths.
  private final class Wheel: Part {
    override var next: Part? { didSet {} }
    override var value: Int {
      get { super.value + 100 }
      set { super.value = newValue }
    }
    override var voice: String {
      get { "very " + super.voice }
      set { super.voice = newValue }
    }
    override func shown(_ value: Int) -> Int { value + 100 }
  }

  /// Its getter computes its value from another object's property, and reads its own last.
  private final class Backed: Part {
    var other = Part()
    override var voice: String {
      get {
        let others = other.voice
        return "\(super.voice) over \(others)"
      }
      set { super.voice = newValue }
    }
  }

  /// Counts how often its property is read.
  private final class CountingReads: Part {
    var reads = 0
    override var next: Part? {
      get {
        reads += 1
        return super.next
      }
      set { super.next = newValue }
    }
  }

  @KeyValueObservable
  private final class Pinboard {
    var count = 0
    weak var person: Person?
    var label: String { "\(person?.name ?? "-")\(count)" }
  }

  @KeyValueObservable
  private final class Tray {
    var person: Person? = Person(name: "a")
    class func automaticallyNotifiesObserversOfPerson() -> Bool { false }
  }

  @KeyValueObservable
  private final class Stand {
    @NotObserved var person: Person? = Person(name: "a")
    var names: String { person?.name ?? "none" }
  }

  @Suite("Following key paths")
  struct PathFollowingTests {
    private let log = Log()

    @Test func `A change of the last property does not evaluate the path, also after an object on it was replaced`() {
      let counting = CountingReads()
      let root: Part = counting
      root.next = Part("low")
      let token = root.log(\.next?.voice, to: log)
      for next in [root.next, Part("soft"), Part("loud")] {
        if next !== root.next { root.next = next }
        let before = counting.reads
        next?.voice = "high"
        #expect(counting.reads == before)
      }
      #expect(log.lines == ["low>high", "high>soft", "soft>high", "high>loud", "loud>high"])
      token.invalidate()
    }

    @Test func `An overridden property delivers the value of its getter, also of one that reads other objects`() {
      let (root, plain, backed) = (Part(), Part(), Backed())
      root.next = Wheel()
      let token = root.log(\.next?.voice, to: log)
      root.next?.voice = "high"
      root.next = plain
      plain.voice = "high"
      #expect(log.take() == ["very low>very high", "very high>low", "low>high"])
      root.next = backed
      backed.other.voice = "deep"
      backed.voice = "clear"
      root.next = plain
      backed.other.voice = "other"
      plain.voice = "higher"
      #expect(
        log.lines == [
          "high>low over low", "low over low>low over deep", "low over deep>clear over deep", "clear over deep>high",
          "high>higher",
        ])
      token.invalidate()
    }

    @Test func `A path to a structure delivers whole values, also after an object on it was replaced`() {
      let root = Part()
      let token = root.log(\.next?.size, to: log)
      for width in 1...3 {
        let next = Part()
        next.size = Size(width: width, depth: width)
        root.next = next
      }
      root.next?.size = Size(width: 5, depth: 5)
      root.next = nil
      #expect(log.lines == ["nil>1 1", "1 1>2 2", "2 2>3 3", "3 3>5 5", "5 5>nil"])
      token.invalidate()
    }

    @Test func `Objects of different subclasses may follow each other anywhere on a path`() {
      let root = Part()
      func chain(_ parts: [Part]) -> Part {
        for (part, next) in zip(parts, parts.dropFirst()) { part.next = next }
        return parts[0]
      }
      let makers: [() -> Part] = [{ Part() }, { Gear() }, { Wheel() }]
      root.next = chain([Gear(), Wheel(), Gear()])
      let token = root.log(\.next?.next?.next?.value, to: log)
      for first in makers {
        for second in makers {
          for third in makers {
            let parts = chain([first(), second(), third()])
            root.next = parts
            let last = parts.next!.next!
            last.value = 5
            #expect(log.take().last == "\(last.shown(0))>\(last.shown(5))")
            parts.next!.next = Wheel()
            #expect(log.take() == ["\(last.shown(5))>100"])
          }
        }
      }
      token.invalidate()
    }

    @Test func `The death of what was replaced without notification is no change, and no getter runs in the store`() {
      let (tray, stand) = (Tray(), Stand())
      let tokens = [
        tray.log(\.person?.name, to: log), stand.log(\.person?.name, to: log), stand.log(\.names, to: log),
      ]
      tray.person?.name = "b"
      stand.person?.name = "c"
      #expect(log.lines.count == 3)
      (tray.person, stand.person) = (nil, nil)  // Swift would end the process if a getter read them now
      #expect(log.lines.count == 3)
      withExtendedLifetime(tokens) {}
    }

    @Test func `After a weak object has died, a change within the next one is delivered once, with the last old value`()
    {
      let board = Pinboard()
      var first: Person? = Person(name: "a")
      board.person = first
      let tokens = [
        board.observe(\.label, options: [.prior, .old, .new]) { [log] board, change in
          log.add("\(change.oldValue!)>\(change.isPrior ? board.label + "?" : change.newValue!)")
        },
        board.observe(\.person) { board, _ in if board.person != nil { board.count += 1 } },  // called first
      ]
      withExtendedLifetime(first) {}
      first = nil
      let second = Person(name: "b")
      board.person = second
      #expect(log.lines == ["a0>-0", "-0>-0?", "-0>b1"])
      withExtendedLifetime((second, tokens)) {}
    }

    @Test func `Replacing an object before a let, or a property that is not observed, is no silent change`() {
      func check(_ path: KeyPath<Shelf, some Any>) {
        let shelf = Shelf()
        shelf.more = Box()
        let raised = faults {
          let token = shelf.log(path, to: log)
          (shelf.box, shelf.more) = (Box(), Box())
          token.invalidate()
        }
        #expect(raised.isEmpty && log.take().count == 1, "\(path)")
      }
      check(\.box.part.value)
      check(\.box.part.voice.count)
      check(\.box.spare?.value)
      check(\.more?.part.value)
      check(\.more!.part.next?.value)
      check(\.more?.spare!.size.width)
    }
  }
#endif
