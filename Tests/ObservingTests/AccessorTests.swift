// What accessors do with values in a change: which they read, store, retain and release.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Counts how often a change calls the getter.
  private final class Meter: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
    private static let levelKey = KeyValueObservationHeader.key("level")

    @exclusivity(unchecked) private var stored = 0
    var reads = 0

    var level: Int {
      get { _$kvo.isTracking ? _$kvo.tracked(self, Self.levelKey, { self.stored }) : stored }
      set {
        guard _$kvo.isObserved else {
          stored = newValue
          _$kvo.stored(Self.levelKey, { self.stored })
          return
        }
        _$kvo.change(Self.levelKey, { self.read() }, { self.stored = newValue })
      }
      _modify {
        guard _$kvo.isObserved else {
          yield &stored
          return
        }
        let change = _$kvo.beginChange(Self.levelKey, { self.read() })
        defer { change.finish({ self.read() }) }
        yield &stored
      }
    }

    private func read() -> Int {
      reads += 1
      return stored
    }

    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      description.observed("level", levelKey, \Meter.level)
    }
  }

  /// Properties that are stored in different ways.
  @KeyValueObservable
  private final class Sundry {
    var watched = 0
    var number = 0
    var flag = false
    var text = ""
    var list: [Int] = []
    var pair = (x: 0, y: 0)
    var person: Person?
  }

  private final class Load: NSObject {}

  @KeyValueObservable
  private final class Cart {
    var load: Load?
  }

  /// Calls a closure before its second property is set.
  @KeyValueObservable
  private final class Stand {
    var title = ""
    @NotObserved var beforeSet: () -> Void = {}
    var shown: Person { willSet { beforeSet() } }
    init(_ shown: Person) { self.shown = shown }
  }

  @Suite("Accessors in a change")
  struct AccessorTests {
    private let log = Log()

    @Test func `A change calls the getter only for values that an observer wants`() {
      func reads(_ options: NSKeyValueObservingOptions, _ change: (Meter) -> Void) -> Int {
        let meter = Meter()
        let token = meter.observe(\.level, options: options) { _, _ in }
        let before = meter.reads
        change(meter)
        token.invalidate()
        return meter.reads - before
      }
      let changes: [(Meter) -> Void] = [{ $0.level = 1 }, { $0.level += 1 }]
      for change in changes {
        #expect(reads([], change) == 0)
        #expect(reads([.old], change) == 1)
        #expect(reads([.new], change) == 1)
        #expect(reads([.old, .new], change) == 2)
      }
    }

    @Test func `While another key of the object is observed, every kind of value is stored, and nobody is told`() {
      let (sundry, person) = (Sundry(), Person(name: "Ann"))
      let token = sundry.log(\.watched, to: log)
      sundry.number = 1
      sundry.flag = true
      sundry.text = "a"
      sundry.text += "b"
      sundry.list = [1]
      sundry.list.append(2)
      sundry.pair = (1, 2)
      sundry.pair.y = 3
      sundry.person = person
      #expect(sundry.number == 1 && sundry.flag && sundry.text == "ab" && sundry.list == [1, 2])
      #expect(sundry.pair.x == 1 && sundry.pair.y == 3 && sundry.person === person)
      #expect(log.lines.isEmpty)
      token.invalidate()
    }

    @Test(arguments: [[], [.old], [.new], [.old, .new]] as [NSKeyValueObservingOptions])
    func `An object that can be compared is retained while it is the value, and released when it is replaced`(
      options: NSKeyValueObservingOptions
    ) {
      let cart = Cart()
      let token = cart.observe(\.load, options: options) { _, _ in }
      weak var former: Load?
      do {
        let load = Load()
        former = load
        cart.load = load
      }
      #expect(former != nil)
      cart.load = nil
      #expect(former == nil)
      token.invalidate()
    }

    @Test(arguments: [false, true])
    func `A path that is registered while its first property is being set follows the new object`(isObserved: Bool) {
      let (stand, second) = (Stand(Person(name: "first")), Person(name: "second"))
      let other = isObserved ? stand.log(\.title, to: log) : nil
      var token: NSKeyValueObservation?
      stand.beforeSet = { [log, unowned stand] in
        if token == nil { token = stand.log(\.shown.name, to: log) }
      }
      stand.shown = second
      second.name = "third"
      #expect(log.lines.last == "second>third")
      token?.invalidate()
      other?.invalidate()
      stand.beforeSet = {}
    }

    @Test func `After changes that observers of a key and of paths through it were told of, all closures are released`()
    {
      let (document, living) = (Document(), Count())
      func observe<Value>(
        _ path: KeyPath<Document, Value>, _ options: NSKeyValueObservingOptions
      ) -> NSKeyValueObservation {
        let witness = Witness(in: living)
        return document.observe(path, options: options) { _, _ in withExtendedLifetime(witness) {} }
      }
      let tokens = [
        observe(\.author, [.new]), observe(\.author?.name, [.old, .new]), observe(\.summary, [.old, .new]),
      ]
      document.author = Person(name: "Ann")
      document.author = Person(name: "Bob")
      #expect(living.value == 3)
      for token in tokens { token.invalidate() }
      #expect(living.value == 0)
    }
  }
#endif
