// Key paths whose accessors are not the property's own: of a protocol requirement, and outside the scope of a private setter.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private protocol Stocked: AnyObject, KeyValueObservable {
    var items: [Int] { get set }
    var summary: String { get }
    var shout: String { get }
  }

  @KeyValueObservable
  private final class Rack: Stocked {
    var items = [1, 2, 3]
    /// A property of the same type, so that only the accessor identifies the property.
    var others = [9]
    private(set) var title = "shelf"
    var summary: String { "\(title): \(items.count)" }

    func rename(_ new: String) { title = new }
    func logInside(_ log: Log) -> NSKeyValueObservation { self.log(\.title, to: log) }
  }

  extension Rack {
    /// Reads only `title`, and has the same type.
    fileprivate var shout: String { title.uppercased() }
  }

  private func observeItems<Owner: Stocked>(_ owner: Owner, _ log: Log) -> NSKeyValueObservation {
    owner.observe(\.items, options: [.old, .new]) { _, change in
      log.add(
        "\(change.kind == .insertion ? "insert" : "set") \(change.indexes.map { Array($0) } ?? []) \(change.newValue!)")
    }
  }

  @Suite("Key paths written in generic code")
  struct GenericKeyPathTests {
    private let shelf = Rack()
    private let log = Log()

    @Test func `A key path to a protocol's requirement observes, makes a proxy, and delivers kind and indexes`() {
      func append<Owner: Stocked>(_ owner: Owner) { owner.mutableArrayValue(for: \.items).append(4) }
      let token = observeItems(shelf, log)
      append(shelf)
      shelf.mutableArrayValue(for: \.items).insert(7, at: 1)
      shelf.items = [5]
      shelf.others = [4]
      #expect(log.lines == ["insert [3] [4]", "insert [1] [7]", "set [] [5]"])
      token.invalidate()
    }

    @Test func `A change is announced with a key path to a protocol's requirement`() {
      func announce<Owner: Stocked>(_ owner: Owner) {
        owner.willChangeValue(for: \.items)
        owner.didChangeValue(for: \.items)
        owner.willChangeValue(for: \.summary)
        owner.didChangeValue(for: \.summary)
      }
      let items = observeItems(shelf, log)
      let summary = shelf.observe(\.summary) { [log] _, _ in log.add("summary") }
      announce(shelf)
      #expect(log.lines == ["summary", "set [] [1, 2, 3]", "summary"])
      items.invalidate()
      summary.invalidate()
    }

    @Test func `A computed property that reads one of the same type is not mistaken for it`() {
      func observeShout<Owner: Stocked>(_ owner: Owner) -> NSKeyValueObservation { owner.log(\.shout, to: log) }
      let token = observeShout(shelf)
      shelf.rename("rack")
      #expect(log.lines == ["SHELF>RACK"])
      token.invalidate()
    }

    @Test func `A property with a private setter is the same inside and outside its class`() {
      let (inside, outside) = (shelf.logInside(log), shelf.log(\.title, to: log))
      // A set of a stored property to an equal value is a change too.
      shelf.rename("shelf")
      #expect(log.lines == ["shelf>shelf", "shelf>shelf"])
      inside.invalidate()
      outside.invalidate()
    }
  }
#endif
