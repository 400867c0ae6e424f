// Declarations of many kinds: the macro has to compile on these classes, observe them, and list their properties.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  final class Document: NSObject {
    var title = ""
    var isFavorite = false
    var author: Author?
    @NotObserved var scratch = 0
    let id = 7
    static let count = 0
    var summary: String { "\(title) by \(author?.name ?? "?")" }
    var failing: Int { get throws { 1 } }
    var slow: Int { get async { 1 } }
    @NotObserved lazy var cache = 1
    override var description: String { title }
  }

  @KeyValueObservable final class Author {
    var name = ""
  }

  @KeyValueObservable
  open class Shape {
    open var sides = 0
    public private(set) var label = "shape"
    dynamic var scale = 1.0
    final var tags: [String] = []
    public init() {}
    func rename(_ label: String) { self.label = label }
  }

  @KeyValueObservable
  class Square: Shape {
    var edge = 1.0
    override var sides: Int { didSet { sidesSet.append(sides) } }
    @NotObserved var sidesSet: [Int] = []
    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "edge" }
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "label" ? ["edge"] : []
    }
  }

  class Foreign {
    var plain = 1
    let given: Int
    init(given: Int) { self.given = given }
  }

  @KeyValueObservable
  class Domestic: Foreign {
    var own: Int
    override var plain: Int { didSet { own = plain } }
    init() {
      own = 5
      super.init(given: 3)
      own += 1
    }
  }

  @KeyValueObservable final class Handmade: KeyValueObject {
    var value = 1
  }

  @KeyValueObservable class Box<Content> {
    var content: Content
    var history: [Content] = []
    init(_ content: Content) { self.content = content }
  }

  @KeyValueObservable final class NumberBox<Number: Numeric>: Box<Number> {
    var factor: Number = 1
    var product: Number { content * factor }
  }

  @KeyValueObservable final class StringBox: Box<String> { var suffix = "!" }

  @MainActor @KeyValueObservable final class Screen {
    var width = 1
    weak var owner: Author?
    var area: Int { width * width }
    nonisolated var kind: String { "screen" }
  }

  @KeyValueObservable final class PartlyOnMainActor {
    @MainActor var shown = 1
    @MainActor var twice: Int { shown * 2 }
    @MainActor @available(*, deprecated) var old = 1
    @MainActor @available(*, deprecated) var older: Int { old }
    var hidden = 2
    init() {}
  }

  enum Namespace {
    struct Inner {
      @KeyValueObservable class Node {
        var value = 1
        @KeyValueObservable final class Leaf: Node { var color = "green" }
      }
    }
  }

  @KeyValueObservable private class Hidden { var value = 1 }
  @KeyValueObservable private final class HiddenSub: Hidden { var other = 1 }

  @KeyValueObservable public class Account {
    public let number: Int
    public var balance: Double
    public internal(set) var owner: String
    fileprivate var secret = 0
    private var pin = 0
    public init(number: Int, owner: String) {
      self.number = number
      self.owner = owner
      balance = Double(number)
      balance += 1
    }
    func change() { pin += 1 }
  }

  @KeyValueObservable final class Kinds {
    var unwrapped: Int!
    var pair = (x: 1, y: 2)
    var table: [String: Int] = [:]
    var members: Set<Int> = []
    var any: Any = 1
    var `default` = 1
    // swift-format-ignore: IdentifiersMustBeASCII
    var été = 2
    var newValue = 1
    var initialValue = 1
    var key = 1
    var later: Int
    @available(*, deprecated) var old = 1
    unowned var keeper: Author
    unowned(unsafe) var careless: Author
    weak var friend: Author?
    init(_ keeper: Author) {
      later = 1
      self.keeper = keeper
      careless = keeper
    }
  }

  @KeyValueObservable final class Conditional {
    #if Macros
      var here = 1
    #elseif os(Linux)
      var there = 1
    #else
      static let nowhere = 1
    #endif
    #if NEVER
      var never = 1
    #endif
  }

  protocol Model: KeyValueObservable { var name: String { get set } }
  @KeyValueObservable final class Modelled: Model { var name = "" }
  @KeyValueObservable final class Said: KeyValueObservable { var name = "" }

  @KeyValueObservable final class Valued: Hashable, CustomStringConvertible {
    var value = 1
    var description: String { "Valued(\(value))" }
    static func == (a: Valued, b: Valued) -> Bool { a.value == b.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  @KeyValueObservable final class Empty {}

  @Suite struct `Shapes of classes` {
    /// Expects that one change is delivered, as `old -> new`.
    private func expect<Root: KeyValueObservable>(
      _ object: Root, _ path: PartialKeyPath<Root>, _ change: String,
      at location: Testing.SourceLocation = #_sourceLocation, _ body: () -> Void
    ) {
      #expect(changes(of: object, path, body) == [change], sourceLocation: location)
    }

    @Test func `A class lists the properties that a key path can name`() {
      #expect(observedNames(of: Document.self) == ["title", "isFavorite", "author"])
      #expect(listedNames(of: Document.self) == ["scratch", "id", "summary", "cache", "description"])
      #expect(observedNames(of: Empty.self).isEmpty)
      #expect(observedNames(of: Account.self) == ["balance", "owner", "secret", "pin"])
      #expect(observedNames(of: Domestic.self) == ["own"])
      #expect(observedNames(of: Conditional.self) == ["here"])
    }

    @Test func `A subclass lists inherited properties with its own root type, and may override them with didSet`() {
      #expect(observedNames(of: Square.self) == ["sides", "label", "scale", "tags", "edge"])
      #expect(listing(of: Square.self, stored: true).first?.path == \Square.sides)
      let square = Square()
      expect(square, \.label, "shape -> x") { square.rename("x") }
      expect(square, \.sides, "0 -> 4") { square.sides = 4 }
      #expect(square.sidesSet == [4])
    }

    @Test func `A subclass declares manual keys and dependencies of an inherited property`() {
      let square = Square()
      #expect(changes(of: square, \.edge) { square.edge = 2 }.isEmpty)
      expect(square, \.edge, "2.0 -> 3.0") {
        square.willChangeValue(for: \.edge)
        square.edge = 3
        square.didChangeValue(for: \.edge)
      }
      expect(square, \.label, "shape -> shape") {
        square.willChangeValue(forKey: "edge")
        square.didChangeValue(forKey: "edge")
      }
    }

    @Test func `A class with a superclass that is not observable, or with KeyValueObject, is observable`() {
      let (object, handmade) = (Domestic(), Handmade())
      expect(object, \.own, "6 -> 9") { object.plain = 9 }
      expect(handmade, \.value, "1 -> 2") { handmade.value = 2 }
    }

    @Test func `Generic classes and their subclasses are observable`() {
      let (box, number, string) = (Box("a"), NumberBox(3), StringBox("a"))
      expect(box, \.content, "a -> b") { box.content = "b" }
      expect(number, \.content, "3 -> 4") { number.content = 4 }
      expect(number, \.factor, "1 -> 4") { number.factor = 4 }
      #expect(number.product == 16)
      expect(string, \.content, "a -> z") { string.content = "z" }
    }

    @Test @MainActor func `A class on the main actor is observable`() {
      let (screen, partly) = (Screen(), PartlyOnMainActor())
      expect(screen, \.width, "1 -> 2") { screen.width = 2 }
      expect(partly, \.shown, "1 -> 2") { partly.shown = 2 }
      #expect(listedNames(of: Screen.self) == ["owner", "area", "kind"])
      #expect(observedNames(of: PartlyOnMainActor.self) == ["shown", "old", "hidden"])
    }

    @Test func `Nested and private classes are observable`() {
      let (leaf, hidden) = (Namespace.Inner.Node.Leaf(), HiddenSub())
      expect(leaf, \.value, "1 -> 2") { leaf.value = 2 }
      expect(leaf, \.color, "green -> red") { leaf.color = "red" }
      expect(hidden, \.value, "1 -> 2") { hidden.value = 2 }
    }

    @Test func `An initializer initializes observed properties, without notification`() {
      let account = Account(number: 4, owner: "o")
      #expect(account.balance == 5)
      expect(account, \.owner, "o -> p") { account.owner = "p" }
    }

    @Test func `Properties of every kind and name are observable`() {
      let author = Author()
      let kinds = Kinds(author)
      expect(kinds, \.unwrapped, "nil -> Optional(2)") { kinds.unwrapped = 2 }
      #expect(kinds.unwrapped + 1 == 3)
      expect(kinds, \.pair, "(x: 1, y: 2) -> (x: 5, y: 2)") { kinds.pair.x = 5 }
      expect(kinds, \.table, "[:] -> [\"a\": 1]") { kinds.table["a"] = 1 }
      expect(kinds, \.members, "[] -> [1]") { kinds.members.insert(1) }
      expect(kinds, \.any, "1 -> x") { kinds.any = "x" }
      expect(kinds, \.default, "1 -> 2") { kinds.default = 2 }
      expect(kinds, \.été, "2 -> 3") { kinds.été = 3 }
      expect(kinds, \.newValue, "1 -> 3") { kinds.newValue = 3 }
      expect(kinds, \.initialValue, "1 -> 3") { kinds.initialValue = 3 }
      #expect(changes(of: kinds, \.keeper) { kinds.keeper = author }.count == 1)
      #expect(changes(of: kinds, \.friend) { kinds.friend = author }.count == 1)
      #expect(kinds.friend === author)
      #expect(Set(observedNames(of: Kinds.self)).isSuperset(of: ["old", "default"]))
    }

    @Test func `A class may declare the conformance itself or through a protocol`() {
      let (modelled, said) = (Modelled(), Said())
      expect(modelled, \.name, " -> m") { modelled.name = "m" }
      expect(said, \.name, " -> m") { said.name = "m" }
    }

    @Test func `Equality, descriptions and mirrors keep working`() {
      let (one, two) = (Valued(), Valued())
      #expect(one == two)
      two.value = 3
      #expect(Set([one, two]).count == 2)
      #expect("\(two)" == "Valued(3)")
      #expect(Mirror(reflecting: two).children.compactMap(\.label).contains("_value"))
      var text = ""
      dump(two, to: &text)
      #expect(text.contains("_value: 3"))
    }

    @Test func `An object is deallocated while observed, whatever its superclass, which ends its observations`() {
      func dies<Object: KeyValueObservable>(_ path: PartialKeyPath<Object>, _ make: () -> Object) -> Bool {
        weak var object: Object?
        do {
          let strong = make()
          object = strong
          _ = changes(of: strong, path) {}
        }
        return object == nil
      }
      #expect(dies(\.title) { Document() })
      #expect(dies(\.edge) { Square() })
      #expect(dies(\.value) { Handmade() })
    }
  }
#endif
