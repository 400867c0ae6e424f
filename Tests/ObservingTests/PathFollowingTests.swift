// How observed key paths are followed: what a change evaluates, overridden properties at the end, and objects that are replaced or die.
#if Macros
  import KeyValueObserving
  import Testing

  extension Person {
    /// Has the same type as `name`, and reads only `name`.
    fileprivate var shout: String { name.uppercased() }
  }

  @KeyValueObservable
  private class Singer {
    var voice = "low"
  }

  private final class Soprano: Singer {
    override var voice: String {
      get { "very " + super.voice }
      set { super.voice = newValue }
    }
  }

  /// A class whose getter computes its value from another object's property, and reads its own last.
  private final class Backed: Singer {
    let other: Singer
    init(_ other: Singer) { self.other = other }
    override var voice: String {
      get {
        let others = other.voice
        return "\(super.voice) over \(others)"
      }
      set { super.voice = newValue }
    }
  }

  @KeyValueObservable
  private class Choir {
    var lead: Singer?
  }

  /// Counts how often its property is read.
  private final class CountedChoir: Choir {
    var reads = 0
    override var lead: Singer? {
      get {
        reads += 1
        return super.lead
      }
      set { super.lead = newValue }
    }
  }

  @KeyValueObservable
  private class Part {
    var next: Part?
    var value = 0
    func shown(_ value: Int) -> Int { value }
  }

  @KeyValueObservable
  private final class Gear: Part {
    var teeth = [1, 2, 3]
  }

  private final class Wheel: Part {
    override var next: Part? { didSet {} }
    override var value: Int {
      get { super.value + 100 }
      set { super.value = newValue }
    }
    override func shown(_ value: Int) -> Int { value + 100 }
  }

  /// A structure that fills an allocated block.
  private struct Size: CustomStringConvertible {
    var width, height, depth: Int
    var description: String { "\(width) \(height) \(depth)" }
  }

  @KeyValueObservable
  private final class Folder {
    var size: Size
    init(_ size: Size) { self.size = size }
  }

  @KeyValueObservable
  private final class Cabinet {
    var folder: Folder?
  }

  @KeyValueObservable
  private final class Sheet {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @KeyValueObservable
  private final class Pinboard {
    var count = 0
    weak var sheet: Sheet?
    var label: String { "\(sheet?.name ?? "-")\(count)" }
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

    @Test func `A change of the last property does not evaluate the path, also after an object on it was replaced`() {
      let (counted, singers) = (CountedChoir(), [Singer(), Singer(), Singer()])
      let choir: Choir = counted
      choir.lead = singers[0]
      let token = choir.log(\.lead?.voice, to: log)
      for singer in singers {
        if singer !== singers[0] { choir.lead = singer }
        let before = counted.reads
        singer.voice = "high"
        #expect(counted.reads == before)
        singer.voice = "low"
      }
      #expect(
        log.lines == ["low>high", "high>low", "low>low", "low>high", "high>low", "low>low", "low>high", "high>low"])
      token.invalidate()
    }

    @Test func `A computed property of the same type at the end of a path is not mistaken for a stored one`() {
      let document = Document()
      document.author = Person(name: "Ann")
      let token = document.log(\.author?.shout, to: log)
      document.author?.name = "Bob"
      document.author?.name = "Cid"
      #expect(log.lines == ["ANN>BOB", "BOB>CID"])
      token.invalidate()
    }

    @Test func `An overridden property delivers the value of its getter, also of one that reads other objects`() {
      let (choir, plain, other) = (Choir(), Singer(), Singer())
      choir.lead = Soprano()
      let token = choir.log(\.lead?.voice, to: log)
      choir.lead?.voice = "high"
      choir.lead = plain
      plain.voice = "high"
      #expect(log.take() == ["very low>very high", "very high>low", "low>high"])
      let backed = Backed(other)
      choir.lead = backed
      other.voice = "deep"
      backed.voice = "clear"
      choir.lead = plain
      other.voice = "other"
      plain.voice = "higher"
      #expect(
        log.lines == [
          "high>low over low", "low over low>low over deep", "low over deep>clear over deep", "clear over deep>high",
          "high>higher",
        ])
      token.invalidate()
    }

    @Test func `A path to a structure delivers whole values, also after an object on it was replaced`() {
      let cabinet = Cabinet()
      let token = cabinet.log(\.folder?.size, to: log)
      for width in 1...4 { cabinet.folder = Folder(Size(width: width, height: 0, depth: width)) }
      cabinet.folder?.size = Size(width: 5, height: 0, depth: 5)
      cabinet.folder = nil
      #expect(log.lines == ["nil>1 0 1", "1 0 1>2 0 2", "2 0 2>3 0 3", "3 0 3>4 0 4", "4 0 4>5 0 5", "5 0 5>nil"])
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
        tray.log(\.sheet?.name, to: log), stand.log(\.sheet?.name, to: log), stand.log(\.names, to: log),
      ]
      tray.sheet?.name = "b"
      stand.sheet?.name = "c"
      #expect(log.lines.count == 3)
      (tray.sheet, stand.sheet) = (nil, nil)  // Swift would end the process if a getter read them now
      #expect(log.lines.count == 3)
      withExtendedLifetime(tokens) {}
    }

    @Test
    func
      `After a weak object has died, a change within the next one is delivered once, with the value delivered last as the old one`()
    {
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
  }
#endif
