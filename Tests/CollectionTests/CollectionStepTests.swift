// The option .collectionChanges at the edges: what is compared, and which changes are made of the difference.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// A number of one byte, of which 255 is not equal to itself.
  private struct Grade: Equatable, CustomStringConvertible {
    let value: UInt8
    var description: String { "\(value)" }
    static func == (first: Grade, second: Grade) -> Bool { first.value == second.value && first.value != 255 }
  }

  @KeyValueObservable
  private final class Readings {
    var values: [Double] = []
    var grades: [Grade] = []
  }

  @Suite("Steps between two states of a collection")
  struct CollectionStepTests {
    let library = Library()
    let log = Log()
    let asked: NSKeyValueObservingOptions = [.old, .new, .collectionChanges]

    @Test func `A change made in the initial notification is delivered with both of its steps`() {
      library.numbers = [10, 20, 30, 40]
      let token = library.observe(\.numbers, options: asked.union(.initial)) { [log] library, change in
        log.add(text(change))
        if change.kind == .setting { library.numbers = [10, 1, 40] }
      }
      #expect(log.lines == ["setting ->[10, 20, 30, 40]", "replacement [1] [20]>[1]", "removal [2] [30]>-"])
      token.invalidate()
    }

    @Test func `What an observer changes without announcing it is delivered with the next announcement`() {
      library.hidden = [1]
      let token = library.observe(\.hidden, options: asked) { [log] library, change in
        log.add(text(change))
        if library.hidden.count == 2 { library.hidden.append(3) }
      }
      library.willChangeValue(for: \.hidden)
      library.hidden.append(2)
      library.didChangeValue(for: \.hidden)
      #expect(log.take() == ["insertion [1] ->[2]"])
      library.willChangeValue(for: \.hidden)
      library.didChangeValue(for: \.hidden)
      #expect(log.take() == ["insertion [2] ->[3]"])
      token.invalidate()
    }

    @Test func `Announced indexes that do not describe the whole change are not used for a part of it`() {
      library.hidden = [5, 7, 7]
      let token = library.log(\.hidden, asked, to: log)
      library.willChange(.insertion, valuesAt: [1], for: \.hidden)
      library.hidden = [6, 7, 7, 7]
      library.didChange(.insertion, valuesAt: [1], for: \.hidden)
      #expect(log.lines == ["replacement [0] [5]>[6]", "insertion [3] ->[7]"])
      token.invalidate()
    }

    @Test func `Elements that cannot be compared are delivered as a setting, also if a proxy announces them`() {
      let shelf = Shelf()
      shelf.opaque = [Opaque(value: 1)]
      let token = shelf.observe(\.opaque, options: asked) { [log] _, change in
        log.add("\(change.kind) \(change.newValue?.map(\.value) ?? [])")
      }
      shelf.mutableArrayValue(for: \.opaque).append(Opaque(value: 2))
      #expect(log.lines == ["setting [1, 2]"])
      token.invalidate()
    }

    @Test func `Elements of a protocol type differ if they differ by one`() {
      let shelf = Shelf()
      shelf.visitors = [5, 2]
      let token = shelf.log(\.visitors, asked, to: log)
      shelf.visitors[1] = 1
      #expect(log.lines == ["replacement [1] [2]>[1]"])
      token.invalidate()
    }

    @Test func `A number that is not equal to itself has not changed if others are inserted before it`() {
      let readings = Readings()
      readings.values = [.nan, 1, .nan]
      let token = readings.log(\.values, asked, to: log)
      readings.values.insert(5, at: 0)
      #expect(log.lines == ["insertion [0] ->[5.0]"])
      token.invalidate()
    }

    @Test func `An element of one byte that is not equal to itself has not changed either`() {
      let readings = Readings()
      readings.grades = [Grade(value: 255), Grade(value: 1)]
      let token = readings.log(\.grades, asked, to: log)
      readings.grades[1] = Grade(value: 2)
      #expect(log.lines == ["replacement [1] [1]>[2]"])
      token.invalidate()
    }
  }
#endif
