// The property at the end of a key path: its changes are delivered without evaluating the path, with the same results.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  extension Person {
    /// Has the same type as `name`, and reads only `name`.
    fileprivate var shout: String { name.uppercased() }
  }

  @KeyValueObservable
  private final class Cabinet {
    var document: Document?
    var guide = Person(name: "Guy")
    var folder: Folder?
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
  private class Singer {
    var voice = "low"
  }

  private final class Soprano: Singer {
    override var voice: String {
      get { "very " + super.voice }
      set { super.voice = newValue }
    }
  }

  /// A class whose getter reads the property of the same name of another object.
  private final class Dubbed: Singer {
    let other: Singer
    init(_ other: Singer) { self.other = other }
    override var voice: String {
      get { "dubbed " + other.voice }
      set { other.voice = newValue }
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

  /// Counts how often its first property is read.
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

  @Suite("The property at the end of a key path")
  struct PathLeafTests {
    let log = Log()

    @Test func `A path without optionals delivers old and new values`() {
      let cabinet = Cabinet()
      let token = cabinet.log(\.guide.name, to: log)
      cabinet.guide.name = "Gus"
      cabinet.guide = Person(name: "Ida")
      cabinet.guide.name = "Ina"
      #expect(log.lines == ["Guy>Gus", "Gus>Ida", "Ida>Ina"])
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

    @Test func `An overridden property delivers the value of its getter`() {
      let choir = Choir()
      choir.lead = Soprano()
      let token = choir.log(\.lead?.voice, to: log)
      choir.lead?.voice = "high"
      choir.lead?.voice = "higher"
      #expect(log.lines == ["very low>very high", "very high>very higher"])
      token.invalidate()
    }

    @Test func `A getter that reads the property of the same name of another object delivers its own value`() {
      let (choir, other) = (Choir(), Singer())
      choir.lead = Dubbed(other)
      let token = choir.log(\.lead?.voice, to: log)
      other.voice = "high"
      choir.lead?.voice = "higher"
      #expect(log.lines == ["dubbed low>dubbed high", "dubbed high>dubbed higher"])
      token.invalidate()
    }

    @Test func `A path to a number is nil while an object on it is nil, and is followed again afterwards`() {
      let document = Document()
      document.author = Person(name: "Ann")
      let token = document.log(\.author?.age, to: log)
      for age in [7, nil, 8, 9] {
        document.author = age.map { age in
          let person = Person(name: "Bob")
          person.age = age
          return person
        }
      }
      document.author?.age = 10
      #expect(log.lines == ["0>7", "7>nil", "nil>8", "8>9", "9>10"])
      token.invalidate()
    }

    @Test func `The old value at the end of a path is delivered when a weakly referenced object on it dies`() {
      let document = Document()
      var reviewer: Person? = Person(name: "Ann")
      document.reviewer = reviewer
      let token = document.log(\.reviewer?.name, to: log)
      reviewer?.name = "Bob"
      reviewer = nil
      #expect(log.lines == ["Ann>Bob", "Bob>nil"])
      let other = Person(name: "Cid")
      document.reviewer = other
      other.name = "Dan"
      #expect(log.lines.suffix(2) == ["nil>Cid", "Cid>Dan"])
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

    @Test func `After an object on a path was replaced, a change of the last property does not evaluate the path`() {
      let (counted, singers) = (CountedChoir(), [Singer(), Singer(), Singer()])
      let choir: Choir = counted
      choir.lead = singers[0]
      let token = choir.log(\.lead?.voice, to: log)
      for singer in singers.dropFirst() {
        choir.lead = singer
        let before = counted.reads
        singer.voice = "high"
        #expect(counted.reads == before)
        singer.voice = "low"
      }
      #expect(log.lines == ["low>low", "low>high", "high>low", "low>low", "low>high", "high>low"])
      token.invalidate()
    }

    @Test func `An object whose getter reads more than its property may replace one whose getter does not`() {
      let (choir, plain, other) = (Choir(), Singer(), Singer())
      choir.lead = plain
      let token = choir.log(\.lead?.voice, to: log)
      plain.voice = "high"
      let backed = Backed(other)
      choir.lead = backed
      other.voice = "deep"
      backed.voice = "clear"
      choir.lead = plain
      other.voice = "other"
      plain.voice = "higher"
      #expect(
        log.lines == [
          "low>high", "high>low over low", "low over low>low over deep", "low over deep>clear over deep",
          "clear over deep>high", "high>higher",
        ])
      token.invalidate()
    }

    @Test func `An object of a subclass on the path is followed like one of the class`() {
      let document = Document()
      let token = document.log(\.author?.name, to: log)
      document.author = Manager(name: "Max")
      document.author?.name = "Moe"
      document.author = Person(name: "Ann")
      document.author?.name = "Bob"
      #expect(log.lines == ["nil>Max", "Max>Moe", "Moe>Ann", "Ann>Bob"])
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

    @Test func `A path that returns to its root notifies of changes at both ends`() {
      let ann = Person(name: "Ann")
      ann.partner = ann
      let token = ann.log(\.partner?.partner?.name, to: log)
      ann.name = "Bob"
      let cid = Person(name: "Cid")
      cid.partner = cid
      ann.partner = cid
      ann.name = "silent"
      cid.name = "Dan"
      #expect(log.lines == ["Ann>Bob", "Bob>Cid", "Cid>Dan"])
      token.invalidate()
      (ann.partner, cid.partner) = (nil, nil)
    }

    @Test func `Observers with .prior are notified before the change, with the old value`() {
      let document = Document()
      document.author = Person(name: "Ann")
      let log = log
      let token = document.observe(\.author?.name, options: [.old, .new, .prior]) { _, change in
        log.add("\(change.isPrior) \(text(change.oldValue as Any)) \(text(change.newValue as Any))")
      }
      document.author?.name = "Bob"
      #expect(log.lines == ["true Ann nil", "false Ann Bob"])
      token.invalidate()
    }

    @Test func `The indexes of a collection change at the end of a path are delivered`() {
      let cabinet = Cabinet()
      let document = Document()
      document.pages = [1]
      cabinet.document = document
      let log = log
      let token = cabinet.observe(\.document?.pages, options: [.new]) { _, change in
        log.add("\(change.kind) \(change.indexes.map { Array($0) } ?? []) \(text(change.newValue as Any))")
      }
      document.willChange(.insertion, valuesAt: [1], forKey: "pages")
      document.didChange(.insertion, valuesAt: [1], forKey: "pages")
      document.pages = [7, 8]
      #expect(log.lines.count == 2)
      #expect(log.lines.first?.hasPrefix("insertion [1]") == true)
      #expect(log.lines.last == "setting [] [7, 8]")
      token.invalidate()
    }

    @Test func `A root whose deallocation has begun is not passed to a handler`() {
      let person = Person(name: "Ann")
      var document: Document? = Document()
      document?.author = person
      let token = document?.log(\.author?.name, to: log)
      document = nil
      person.name = "Bob"
      #expect(log.lines.isEmpty)
      #expect(person.observationInfo == nil)
      token?.invalidate()
    }

    @Test func `More than 255 observers of one key, and then fewer, receive the old value`() {
      let person = Person(name: "Ann")
      let last = person.log(\.name, to: log)
      do {
        let tokens = (0..<300).map { _ in person.observe(\.name, options: [.old, .prior]) { _, _ in } }
        person.name = "Bob"
        for token in tokens { token.invalidate() }
      }
      person.name = "Cid"
      #expect(log.lines == ["Ann>Bob", "Bob>Cid"])
      last.invalidate()
      #expect(person.observationInfo == nil)
    }
  }
#endif
