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

  /// Overrides an observed property by a computed one, whose getter observers use.
  final class Doubled: Shape {
    override var sides: Int {
      get { super.sides * 2 }
      set { super.sides = newValue }
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
    var action: () -> Int = { 1 }
    var handler: ((Int) -> Void)?
    var list: [Int] = []
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

  @KeyValueObservable final class Shared: @unchecked Sendable { var value = 1 }

  @KeyValueObservable final class Valued: Hashable, CustomStringConvertible {
    var value = 1
    var description: String { "Valued(\(value))" }
    static func == (a: Valued, b: Valued) -> Bool { a.value == b.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  @KeyValueObservable final class Empty {}

  @Suite struct `Shapes of classes` {
    @Test func `A final class lists the properties that a key path can name`() {
      #expect(observedNames(of: Document.self) == ["title", "isFavorite", "author"])
      #expect(listedNames(of: Document.self) == ["scratch", "id", "summary", "cache", "description"])
      #expect(observedNames(of: Empty.self).isEmpty)
    }

    @Test func `A change is delivered with its values, and only for observed objects`() {
      let document = Document()
      document.title = "a"
      #expect(changes(of: document, \.title) { document.title = "b" } == ["a -> b"])
      #expect(changes(of: document, \.title) { document.title += "c" } == ["b -> bc"])
      #expect(changes(of: document, \.title) { document.isFavorite.toggle() }.isEmpty)
      #expect(document.description == "bc")
    }

    @Test func `A computed property notifies of changes of the properties that it reads`() {
      let document = Document()
      document.author = Author()
      let before = document.summary
      #expect(changes(of: document, \.summary) { document.title = "read" } == ["\(before) -> \(document.summary)"])
    }

    @Test func `A subclass lists inherited properties with its own root type`() {
      let listing = listing(of: Square.self)
      #expect(listing.observed.map(\.name) == ["sides", "label", "scale", "tags", "edge"])
      #expect(listing.observed.first?.path == \Square.sides)
      let square = Square()
      #expect(changes(of: square, \.label) { square.rename("x") } == ["shape -> x"])
      #expect(changes(of: square, \.sides) { square.sides = 4 } == ["0 -> 4"])
    }

    @Test func `A subclass declares manual keys and dependencies of an inherited property`() {
      let square = Square()
      #expect(changes(of: square, \.edge) { square.edge = 2 }.isEmpty)
      let announced = changes(of: square, \.edge) {
        square.willChangeValue(for: \.edge)
        square.edge = 3
        square.didChangeValue(for: \.edge)
      }
      #expect(announced == ["2.0 -> 3.0"])
      let affected = changes(of: square, \.label) {
        square.willChangeValue(forKey: "edge")
        square.didChangeValue(forKey: "edge")
      }
      #expect(affected == ["shape -> shape"])
    }

    @Test func `A subclass may override an inherited property with didSet`() {
      let square = Square()
      #expect(changes(of: square, \.sides) { square.sides = 4 } == ["0 -> 4"])
      #expect(square.sidesSet == [4])
    }

    @Test func `Observers receive the values of an overriding getter`() {
      let doubled = Doubled()
      #expect(changes(of: doubled as Shape, \.sides) { doubled.sides = 4 } == ["0 -> 8"])
    }

    @Test func `Overrides in a subclass are dispatched dynamically`() {
      let type: Shape.Type = Square.self
      #expect(!type.automaticallyNotifiesObservers(forKey: "edge"))
      #expect(type.keyPathsForValuesAffectingValue(forKey: "label") == ["edge"])
      #expect(Shape.automaticallyNotifiesObservers(forKey: "edge"))
    }

    @Test func `A class with a superclass of another module is observable`() {
      let object = Domestic()
      #expect(object.own == 6)
      #expect(changes(of: object, \.own) { object.plain = 9 } == ["6 -> 9"])
      #expect(observedNames(of: Domestic.self) == ["own"])
      let handmade = Handmade()
      #expect(changes(of: handmade, \.value) { handmade.value = 2 } == ["1 -> 2"])
    }

    @Test func `Generic classes and their subclasses are observable`() {
      let box = Box("a")
      #expect(changes(of: box, \.content) { box.content = "b" } == ["a -> b"])
      let number = NumberBox(3)
      #expect(changes(of: number, \.content) { number.content = 4 } == ["3 -> 4"])
      #expect(changes(of: number, \.factor) { number.factor = 4 } == ["1 -> 4"])
      #expect(number.product == 16)
      let string = StringBox("a")
      #expect(changes(of: string, \.content) { string.content = "z" } == ["a -> z"])
    }

    @Test @MainActor func `A class on the main actor is observable`() {
      let screen = Screen()
      #expect(changes(of: screen, \.width) { screen.width = 2 } == ["1 -> 2"])
      #expect(listedNames(of: Screen.self) == ["owner", "area", "kind"])
      let partly = PartlyOnMainActor()
      #expect(changes(of: partly, \.shown) { partly.shown = 2 } == ["1 -> 2"])
      #expect(observedNames(of: PartlyOnMainActor.self) == ["shown", "old", "hidden"])
    }

    @Test func `Nested and private classes are observable`() {
      let leaf = Namespace.Inner.Node.Leaf()
      #expect(changes(of: leaf, \.value) { leaf.value = 2 } == ["1 -> 2"])
      #expect(changes(of: leaf, \.color) { leaf.color = "red" } == ["green -> red"])
      let hidden = HiddenSub()
      #expect(changes(of: hidden, \.value) { hidden.value = 2 } == ["1 -> 2"])
    }

    @Test func `An initializer initializes observed properties`() {
      let account = Account(number: 4, owner: "o")
      #expect(account.balance == 5)
      #expect(changes(of: account, \.owner) { account.owner = "p" } == ["o -> p"])
      #expect(observedNames(of: Account.self) == ["balance", "owner", "secret", "pin"])
    }

    @Test func `Properties of every kind are observable`() {
      let author = Author()
      let kinds = Kinds(author)
      #expect(changes(of: kinds, \.unwrapped) { kinds.unwrapped = 2 } == ["nil -> Optional(2)"])
      #expect(kinds.unwrapped + 1 == 3)
      #expect(changes(of: kinds, \.pair) { kinds.pair.x = 5 } == ["(x: 1, y: 2) -> (x: 5, y: 2)"])
      #expect(changes(of: kinds, \.action) { kinds.action = { 2 } }.count == 1)
      #expect(kinds.action() == 2)
      #expect(changes(of: kinds, \.handler) { kinds.handler = nil }.count == 1)
      #expect(changes(of: kinds, \.table) { kinds.table["a"] = 1 } == ["[:] -> [\"a\": 1]"])
      #expect(changes(of: kinds, \.members) { kinds.members.insert(1) } == ["[] -> [1]"])
      #expect(changes(of: kinds, \.any) { kinds.any = "x" } == ["1 -> x"])
      #expect(changes(of: kinds, \.default) { kinds.default = 2 } == ["1 -> 2"])
      #expect(changes(of: kinds, \.été) { kinds.été = 3 } == ["2 -> 3"])
      #expect(changes(of: kinds, \.newValue) { kinds.newValue = 3 } == ["1 -> 3"])
      #expect(changes(of: kinds, \.initialValue) { kinds.initialValue = 3 } == ["1 -> 3"])
      #expect(changes(of: kinds, \.keeper) { kinds.keeper = author }.count == 1)
      #expect(changes(of: kinds, \.friend) { kinds.friend = author }.count == 1)
      #expect(kinds.friend === author)
      #expect(observedNames(of: Kinds.self).contains("old"))
      #expect(observedNames(of: Kinds.self).contains("default"))
    }

    @Test func `A weak property does not retain its object`() {
      let kinds = Kinds(Author())
      do {
        let friend = Author()
        kinds.friend = friend
      }
      #expect(kinds.friend == nil)
    }

    @Test func `Members in conditional compilation are observed where they exist`() {
      #expect(observedNames(of: Conditional.self) == ["here"])
    }

    @Test func `A class may declare the conformance itself or through a protocol`() {
      let modelled = Modelled()
      #expect(changes(of: modelled, \.name) { modelled.name = "m" } == [" -> m"])
      let said = Said()
      #expect(changes(of: said, \.name) { said.name = "m" } == [" -> m"])
    }

    @Test func `Equality, descriptions and mirrors keep working`() {
      let (one, two) = (Valued(), Valued())
      #expect(one == two)
      two.value = 3
      #expect(Set([one, two]).count == 2)
      #expect("\(two)" == "Valued(3)")
      let labels = Mirror(reflecting: two).children.compactMap(\.label)
      #expect(labels.contains("_value"))
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
