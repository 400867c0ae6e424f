// Section K of Documentation/AppleCompatibility.md: dependent keys.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Declares its dependent keys as ported code does; only the declarations count.
  @KeyValueObservable
  private class Named {
    var first = "A"
    var last = "Z"
    var child: T?
    var usesA = true
    var a: T?
    var b: T?
    var list: [Int] = []
    /// Values that are never announced.
    @NotObserved var hidden = 0
    @NotObserved var reads = 0

    var full: String {
      get { "\(first) \(last)" }
      set { (first, last) = (newValue, newValue) }
    }
    var twice: String { full + full }
    var deep: Int? { child?.v }
    var pair: String { "\(child?.v ?? -1) \(child?.s ?? "-")" }
    var pick: T? { usesA ? a : b }
    var total: Int { list.count }
    /// A getter that reads nothing observable.
    var counted: Int {
      reads += 1
      return hidden
    }
    var cyc1 = 0
    var cyc2 = 0

    class func keyPathsForValuesAffectingFull() -> Set<String> { ["first", "last"] }
    class func keyPathsForValuesAffectingCounted() -> Set<String> { ["first"] }
    class func keyPathsForValuesAffectingCyc1() -> Set<String> { ["cyc2"] }
    class func keyPathsForValuesAffectingCyc2() -> Set<String> { ["cyc1"] }

    class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      switch key {
      case "twice": ["full"]
      case "deep": ["child.v"]
      case "pair": ["child.v", "child.s"]
      case "pick": ["usesA", "a", "b"]
      case "total": ["list"]
      default: []
      }
    }
  }

  /// Extends its superclass's declarations.
  private final class Titled: Named {
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      let declared = super.keyPathsForValuesAffectingValue(forKey: key)
      return key == "counted" ? declared.union(["last"]) : declared
    }
  }

  /// Declares keys that affect themselves.
  @KeyValueObservable
  private final class Circular {
    var own = 0
    var path: T?
    static func keyPathsForValuesAffectingOwn() -> Set<String> { ["own"] }
    static func keyPathsForValuesAffectingPath() -> Set<String> { ["path.v"] }
  }

  /// The class of Apple's own order test, as described by its ports: a float depends on an integer.
  @KeyValueObservable
  private final class Numbers {
    var anInt = 0
    var aFloat: Double { Double(anInt) }
  }

  /// Counts the calls of its class method.
  @KeyValueObservable
  private final class AskedForPaths {
    var v = 0
    static nonisolated(unsafe) var questions: [String] = []
    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      questions.append(key)
      return []
    }
  }

  @KeyValueObservable
  private final class ManualTrigger {
    var manual = 0
    var dependent: Int { manual * 2 }
    static func automaticallyNotifiesObserversOfManual() -> Bool { false }
    static func keyPathsForValuesAffectingDependent() -> Set<String> { ["manual"] }
  }

  @Suite("K. Dependent keys")
  struct SectionK {
    private let n = Named()
    let w = Watcher(path: true)

    /// Returns the changes of keys while a body runs.
    private func watching(
      _ keys: String..., options: NSKeyValueObservingOptions = [.old, .new], on object: (any KeyValueObservable)? = nil,
      _ body: () -> Void
    ) -> [String] {
      let object: any KeyValueObservable = object ?? n
      for key in keys { object.add(w, key, options) }
      body()
      for key in keys { object.remove(w, key) }
      return w.take()
    }

    @Test func `163, 164, 165: keyPathsForValuesAffecting<Key> is called; observers of the key are notified`() {
      #expect(watching("full") { n.first = "B" } == ["w full A Z>B Z"])
      #expect(watching("first") { n.first = "C" } == ["w first B>C"])
      #expect(watching("counted") { n.first = "D" } == ["w counted 0>0"])
    }

    @Test func `166: Setting the dependent key notifies its observers`() {
      #expect(watching("cyc1") { n.cyc1 = 1 } == ["w cyc1 0>1"])
      // A computed property's setter is not a change by itself; each property that it sets notifies.
      #expect(watching("full") { n.full = "X" } == ["w full A Z>X Z", "w full X Z>X X"])
    }

    @Test func `167: Dependents of dependents notify`() {
      #expect(watching("twice") { n.last = "Y" } == ["w twice A ZA Z>A YA Y"])
    }

    @Test func `168: A dependent that a change affects in several ways notifies once`() {
      n.child = T(v: 1)
      #expect(watching("pair") { n.child = T(v: 2) } == ["w pair 1 ->2 -"])
    }

    @Test func `169: Two keys that change one after the other are two changes of their dependent`() {
      let lines = watching("full") {
        n.first = "B"
        n.last = "Y"
      }
      #expect(lines == ["w full A Z>B Z", "w full B Z>B Y"])
    }

    @Test func `170, 171: A dependency on a key path notifies of its end and of replacements on it, once each`() {
      n.child = T(v: 1)
      let lines = watching("deep") {
        n.child?.v = 2
        n.child = T(v: 3)
        n.child = nil
      }
      #expect(lines == ["w deep 1>2", "w deep 2>3", "w deep 3>null"])
      #expect(watching("pair") { n.child = T(v: 5) } == ["w pair -1 ->5 -"])
    }

    @Test func `172: A path whose head is a dependent key follows its value`() {
      let (a, b) = (T("a", v: 1), T("b", v: 2))
      (n.a, n.b) = (a, b)
      let lines = watching("pick.v") {
        a.v = 10
        b.v = 20
        n.usesA = false
        a.v = 11
        b.v = 21
      }
      #expect(lines == ["w pick.v 1>10", "w pick.v 10>20", "w pick.v 20>21"])
    }

    @Test func `32, 173: Prior works for dependent keys, with their old value`() {
      let lines = watching("full", options: [.prior, .old, .new]) { n.first = "B" }
      #expect(lines == ["w full prior A Z>-", "w full A Z>B Z"])
    }

    @Test func `174: Keys that depend on each other each notify once`() {
      let lines = watching("cyc1", "cyc2") {
        n.cyc1 = 1
        n.cyc2 = 2
      }
      #expect(lines == ["w cyc2 0>0", "w cyc1 0>1", "w cyc2 0>2", "w cyc1 1>1"])
    }

    @Test func `175: A cycle of objects that contains a nil notifies again once the nil is replaced`() {
      let (a, b) = (T("a", v: 1), T("b", v: 2))
      (n.a, a.child) = (a, nil)
      let lines = watching("pick.child.child.v") {
        a.child = b
        b.child = a
        a.v = 5
      }
      #expect(
        lines == ["w pick.child.child.v null>null", "w pick.child.child.v null>1", "w pick.child.child.v 1>5"])
      b.child = nil
    }

    @Test func `176, 280: A key that is declared to affect itself`() {
      let raised = faults { Circular().observe(\.own) { _, _ in }.invalidate() }
      #expect(
        raised.map(appleText) == [
          "NSInternalInconsistencyException Circular: A +keyPathsForValuesAffectingValueForKey: message returned a set that "
            + "includes the same key that was passed in, which is not valid.\nPassed-in key: own\nReturned key path set: "
            + "{(\n    own\n)}"
        ])
    }

    @Test func `177: A path through a key that is declared to affect the key`() throws {
      let circular = Circular()
      let raised = faults {
        circular.add(w, "path")
        circular.remove(w, "path")
      }
      let text = appleText(try #require(raised.first))
      #expect(
        text.contains(
          "returned a set that includes a key path that starts with the same key that was passed in, which is not valid. The "
            + "property identified by the key path already depends on the property identified by the key, never vice versa."
        ))
      #expect(raised.map(\.code) == [39])
    }

    @Test func `178: The class is asked once per key, and its answer is cached`() {
      for _ in 0..<3 {
        let asked = AskedForPaths()
        asked.add(w, "v")
        asked.remove(w, "v")
      }
      #expect(AskedForPaths.questions.filter { $0 == "v" }.count == 1)
    }

    @Test func `179: A subclass is asked, and combines its answer with its superclass's`() {
      let titled = Titled()
      let lines = watching("counted", on: titled) {
        titled.first = "B"
        titled.last = "Y"
      }
      #expect(lines == ["w counted 0>0", "w counted 0>0"])
      #expect(watching("counted") { n.last = "Y" }.isEmpty)
    }

    @Test func `183, 184: A change of a collection is a setting of its dependent, with the dependent's values`() {
      let lines = watching("total") {
        n.willChange(.insertion, valuesAt: [0], forKey: "list")
        n.list = [5]
        n.didChange(.insertion, valuesAt: [0], forKey: "list")
      }
      // The setter within the pair also notifies.
      #expect(lines == ["w total 0>1", "w total 1>1"])
      #expect(watching("total") { n.list = [1, 2] } == ["w total 1>2"])
    }

    @Test func `185: Nested pairs of two keys that affect one are two notifications`() {
      let lines = watching("full") {
        n.willChangeValue(forKey: "first")
        n.willChangeValue(forKey: "last")
        n.didChangeValue(forKey: "last")
        n.didChangeValue(forKey: "first")
      }
      #expect(lines == ["w full A Z>A Z", "w full A Z>A Z"])
    }

    @Test func `186: The value is evaluated again for each change`() {
      let lines = watching("counted") {
        n.hidden = 5
        n.first = "B"
        n.hidden = 6
        n.first = "C"
      }
      #expect(lines == ["w counted 0>5", "w counted 5>6"])
    }

    @Test func `128: A pair of a dependent key notifies that key's observers only`() {
      let lines = watching("first", "full", "twice") {
        n.willChangeValue(forKey: "full")
        n.didChangeValue(forKey: "full")
      }
      #expect(lines.contains("w full A Z>A Z") && !lines.contains { $0.hasPrefix("w first") })
      #expect(lines.filter { $0.hasPrefix("w full") }.count == 1)
    }

    @Test func `109, 114: The dependent of a manual key notifies with it; the class declares keys as manual`() {
      let object = ManualTrigger()
      let lines = watching("dependent", on: object) {
        object.manual = 1
        object.willChangeValue(forKey: "manual")
        object.manual = 2
        object.didChangeValue(forKey: "manual")
      }
      #expect(lines == ["w dependent 0>4"])
    }

    @Test func `36, 39: The order is that of registration over all keys of a change, including dependent ones`() {
      let numbers = Numbers()
      let lines = watching("anInt", "aFloat", options: [.prior], on: numbers) { numbers.anInt = 1 }
      #expect(
        lines == ["w anInt prior ->-", "w aFloat prior ->-", "w aFloat ->-", "w anInt ->-"])
    }

    @Test func `42: The complete trace of a change within a change, with a dependent key`() {
      let numbers = Numbers()
      let (int, float) = (Watcher("a", w.log), Watcher("b", w.log))
      numbers.add(int, "anInt", [.prior, .new])
      numbers.add(float, "aFloat", [.prior, .new])
      var isDone = false
      float.reaction = { isPrior in
        if isPrior || isDone { return }
        isDone = true
        numbers.anInt = 42
      }
      numbers.anInt = 1
      #expect(
        w.take() == [
          "a prior ->-", "b prior ->-", "b ->1.0", "a prior ->-", "b prior ->-", "b ->42.0", "a ->42", "a ->42",
        ])
      numbers.remove(int, "anInt")
      numbers.remove(float, "aFloat")
    }
  }
#endif
