// Declared dependencies on properties that are computed without a declaration: what their getters read counts too.
#if Macros
  import KeyValueObserving
  import Testing

  /// The declared properties read nothing observable; what affects them is computed, or refers to an object weakly.
  @KeyValueObservable
  private final class Sum: NSKeyValueObservingCustomization {
    var a = 0
    var factor = 1
    var next: Sum?
    weak var guest: Sum?
    @NotObserved var cache = 7
    var plain: Int { a * factor }
    var further: Int { plain + 1 }
    var declared: Int { cache }
    var byName: Int { cache }
    var byKeyPath: Int { cache }
    var byLongName: Int { cache }
    var byLongKeyPath: Int { cache }
    var byDeclared: Int { cache }
    var byGuest: Int { cache }
    /// Reads a key that is declared to depend on this property.
    var circular: Int { (value(forKey: "byCircular") as? Int ?? 0) + a }
    var byCircular: Int { cache }

    nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      switch key {
      case "declared": ["a"]
      case "byName": ["further"]
      case "byLongName": ["next.plain"]
      case "byDeclared": ["byName"]
      case "byGuest": ["guest"]
      case "byCircular": ["circular"]
      default: []
      }
    }
    nonisolated static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      switch key {
      case \Sum.byKeyPath: [\Sum.further]
      case \Sum.byLongKeyPath: [\Sum.next?.plain, \Sum.next?.declared]
      default: []
      }
    }
    nonisolated static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
  }

  /// Its getters read a property that is declared to depend on `a`, and one that is announced manually.
  @KeyValueObservable
  private final class Mixture {
    var a = 0
    var b = 0
    @NotObserved var hidden = 0
    var declared: Int { hidden + a }
    var manual: Int {
      get { hidden }
      set {
        willChangeValue(for: \.manual)
        hidden = newValue
        didChangeValue(for: \.manual)
      }
    }
    var silent: Int { hidden }
    var recorded: Int { silent + manual + b }
    var mixed: Int { declared + manual + b }
    class var keyPathsForValuesAffectingDeclared: Set<String> { ["a"] }
    class var keyPathsForValuesAffectingSilent: Set<String> { ["a"] }
    class var keyPathsForValuesAffectingMixed: Set<String> { ["declared", "manual", "b"] }
  }

  @Suite("Declared dependencies on computed properties")
  struct ComputedDependencyTests {
    private let sum = Sum()

    @Test func `A key that is declared to depend on a computed property depends on what its getters read`() {
      let rows = [
        notifications(of: sum, \.byName, "byName"), notifications(of: sum, \.byKeyPath, "byKeyPath"),
        notifications(of: sum, \.byDeclared, "byDeclared"),
      ]
      for count in rows {
        #expect(count({ sum.a += 1 }, { sum.factor += 1 }, { sum.cache += 1 }, { sum.next = Sum() }) == [1, 1, 0, 0])
      }
      let byName = rows[0]
      let announced = byName {
        sum.willChangeValue(forKey: "further")
        sum.didChangeValue(forKey: "further")
      }
      #expect(announced == [1])
    }

    @Test func `It applies to the key at the end of a longer path, of the objects that are there now`() {
      let (first, second) = (Sum(), Sum())
      let byName = notifications(of: sum, \.byLongName, "byLongName")
      let byKeyPath = notifications(of: sum, \.byLongKeyPath, "byLongKeyPath")
      #expect(byName { sum.next = first } == [1])
      #expect(byName { first.factor += 1 } == [1])
      #expect(byKeyPath { first.factor += 1 } == [1])
      let moved = byName {
        sum.next = second
        first.a += 1
        second.a += 1
      }
      #expect(moved == [2])
      let announced = byKeyPath {
        second.willChangeValue(forKey: "declared")
        second.didChangeValue(forKey: "declared")
      }
      #expect(announced == [1])
      #expect(byKeyPath { second.a += 1 } == [1])
    }

    @Test func `A key that is declared to depend on a weak property is notified of the end of its object`() {
      var guest: Sum? = Sum()
      sum.guest = guest
      let byGuest = notifications(of: sum, \.byGuest, "byGuest")
      #expect(byGuest { guest = nil } == [1])
      _ = guest
    }

    @Test func `A getter may read a key that is declared to depend on it`() {
      let byCircular = notifications(of: sum, \.byCircular, "byCircular")
      let circular = notifications(of: sum, \.circular, "circular")
      #expect(byCircular { sum.a += 1 } + circular { sum.a += 1 } == [1, 1])
    }

    @Test func `A property declares the declared and announced ones that its getter reads, which are not recorded`() {
      let mixture = Mixture()
      let mixed = notifications(of: mixture, \.mixed, "mixed")
      let recorded = notifications(of: mixture, \.recorded, "recorded")
      #expect(mixed({ mixture.a += 1 }, { mixture.manual += 1 }, { mixture.b += 1 }) == [1, 1, 1])
      #expect(recorded({ mixture.a += 1 }, { mixture.manual += 1 }, { mixture.b += 1 }) == [0, 0, 1])
    }
  }
#endif
