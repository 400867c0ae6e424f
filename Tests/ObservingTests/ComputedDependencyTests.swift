// Declared dependencies on properties that are computed without a declaration: what their getters read counts too.
#if Macros
  import Foundation
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
    var noted: Int { cache }
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
    nonisolated static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { key != \Sum.noted }
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

  private final class ChangeTally: KeyValueObserver, @unchecked Sendable {
    var count = 0
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      count += 1
    }
  }

  @Suite("Declared dependencies on computed properties")
  struct ComputedDependencyTests {
    /// Returns the number of notifications of a key while a body runs. It is observed by string and by key path, with and without
    /// values, which must agree.
    private func delivered<Object: KeyValueObservable, Value>(
      _ object: Object, _ path: KeyPath<Object, Value>, _ key: String, _ body: () -> Void
    ) -> Int {
      let counters = [ChangeTally(), ChangeTally()]
      nonisolated(unsafe) var typed = 0
      let token = object.observe(path) { _, _ in typed += 1 }
      object.addObserver(counters[0], forKeyPath: key)
      object.addObserver(counters[1], forKeyPath: key, options: [.old, .new, .initial])
      counters[1].count = 0
      body()
      for counter in counters { object.removeObserver(counter, forKeyPath: key) }
      token.invalidate()
      #expect(counters.map(\.count) == [typed, typed])
      return typed
    }

    @Test func `A key that is declared to depend on a computed property depends on what its getters read`() {
      let sum = Sum()
      #expect(delivered(sum, \.byName, "byName") { sum.a += 1 } == 1)
      #expect(delivered(sum, \.byName, "byName") { sum.factor += 1 } == 1)
      #expect(delivered(sum, \.byName, "byName") { sum.next = Sum() } == 0)
      #expect(delivered(sum, \.byName, "byName") { (sum.a, sum.factor) = (3, 4) } == 2)
    }

    @Test func `The same applies to a declaration with key paths`() {
      let sum = Sum()
      #expect(delivered(sum, \.byKeyPath, "byKeyPath") { sum.a += 1 } == 1)
      #expect(delivered(sum, \.byKeyPath, "byKeyPath") { sum.next = Sum() } == 0)
    }

    @Test func `It applies to the key at the end of a longer path, of the objects that are there now`() {
      let (sum, first, second) = (Sum(), Sum(), Sum())
      #expect(delivered(sum, \.byLongName, "byLongName") { sum.next = first } == 1)
      #expect(delivered(sum, \.byLongName, "byLongName") { first.factor += 1 } == 1)
      #expect(delivered(sum, \.byLongKeyPath, "byLongKeyPath") { first.factor += 1 } == 1)
      #expect(
        delivered(sum, \.byLongName, "byLongName") {
          sum.next = second
          first.a += 1
          second.a += 1
        } == 2)
    }

    @Test func `A typed path to a declared property depends on what is declared for it and on its announcements`() {
      let (sum, next) = (Sum(), Sum())
      sum.next = next
      let announced = delivered(sum, \.byLongKeyPath, "byLongKeyPath") {
        next.willChangeValue(forKey: "declared")
        next.didChangeValue(forKey: "declared")
      }
      #expect(announced == 1)
      #expect(delivered(sum, \.byLongKeyPath, "byLongKeyPath") { next.a += 1 } == 1)
    }

    @Test func `It applies through further declarations`() {
      let sum = Sum()
      #expect(delivered(sum, \.byDeclared, "byDeclared") { sum.a += 1 } == 1)
      #expect(delivered(sum, \.byDeclared, "byDeclared") { sum.cache += 1 } == 0)
    }

    @Test func `The announcement of a computed property notifies what is declared to depend on it`() {
      let sum = Sum()
      let announced = delivered(sum, \.byName, "byName") {
        sum.willChangeValue(forKey: "further")
        sum.didChangeValue(forKey: "further")
      }
      #expect(announced == 1)
    }

    @Test func `A key that is declared to depend on a weak property is notified of the end of its object`() {
      let sum = Sum()
      var guest: Sum? = Sum()
      sum.guest = guest
      #expect(delivered(sum, \.byGuest, "byGuest") { guest = nil } == 1)
      _ = guest
    }

    @Test func `A getter may read a key that is declared to depend on it`() {
      let sum = Sum()
      #expect(delivered(sum, \.byCircular, "byCircular") { sum.a += 1 } == 1)
      #expect(delivered(sum, \.circular, "circular") { sum.a += 1 } == 1)
    }

    @Test func `A property declares the declared and announced ones that its getter reads, which are not recorded`() {
      let mixture = Mixture()
      #expect(delivered(mixture, \.mixed, "mixed") { mixture.a += 1 } == 1)
      #expect(delivered(mixture, \.mixed, "mixed") { mixture.manual += 1 } == 1)
      #expect(delivered(mixture, \.mixed, "mixed") { mixture.b += 1 } == 1)
      #expect(delivered(mixture, \.recorded, "recorded") { mixture.a += 1 } == 0)
      #expect(delivered(mixture, \.recorded, "recorded") { mixture.manual += 1 } == 0)
      #expect(delivered(mixture, \.recorded, "recorded") { mixture.b += 1 } == 1)
    }
  }
#endif
