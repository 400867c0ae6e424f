// Typed key paths through keys that are announced manually, or declared as dependent on others.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Leaf {
    private let lock = NSLock()
    @NotObserved private var stored = 0
    /// Announced manually; its accessors use no observable property.
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        lock.withLock { stored = newValue }
        didChangeValue(for: \.value)
      }
    }

    var trigger = 0
    var alsoRead = 0
    var shown: Int { trigger + alsoRead }
    class func keyPathsForValuesAffectingShown() -> Set<String> { ["trigger"] }

    /// Protected by a lock that the setter holds while it stores the observed value.
    var visible = 0
    var guarded: Int {
      get { lock.withLock { visible } }
      set {
        willChangeValue(for: \.guarded)
        lock.withLock { visible = newValue }
        didChangeValue(for: \.guarded)
      }
    }
    class func automaticallyNotifiesObserversOfGuarded() -> Bool { false }
  }

  private final class FinerLeaf: Leaf {}

  @KeyValueObservable
  private class Branch {
    var leaf: Leaf? = Leaf()
    var fixed = Leaf()
  }

  @KeyValueObservable
  private final class Trunk {
    var branch: Branch? = Branch()
    var sure = Branch()
  }

  private struct Extent {
    var width = 0
  }

  /// Computed properties of values that no property holds.
  @KeyValueObservable
  private class Sheet {
    var basic = ""
    @NotObserved var hidden = ""
    @NotObserved var leaves: [Leaf] = []
    class func keyPathsForValuesAffectingDeclared() -> Set<String> { ["basic"] }
    var declared: String { hidden }
    class func keyPathsForValuesAffectingExtent() -> Set<String> { ["basic"] }
    var extent: Extent { Extent(width: hidden.count) }
    class func keyPathsForValuesAffectingLetters() -> Set<String> { ["basic"] }
    var letters: [Character]? { Array(hidden) }
    var manual: String {
      get { hidden }
      set {
        willChangeValue(for: \.manual)
        hidden = newValue
        didChangeValue(for: \.manual)
      }
    }
    var manualLeaves: [Leaf] {
      get { leaves }
      set {
        willChangeValue(for: \.manualLeaves)
        leaves = newValue
        didChangeValue(for: \.manualLeaves)
      }
    }
    /// Its getter reads a property that does not count.
    class func keyPathsForValuesAffectingNarrow() -> Set<String> { ["basic"] }
    var other = ""
    var narrow: String { other + hidden }

    /// Changes the value, and a key that the declared ones depend on.
    func declare(_ value: String) {
      willChangeValue(for: \.basic)
      hidden = value
      didChangeValue(for: \.basic)
    }
  }

  @KeyValueObservable
  private final class Rack {
    @NotObserved private(set) var leaf: Leaf? = Leaf()
    @NotObserved private(set) var extent = Extent()

    /// Announces what it stores.
    func put(_ leaf: Leaf?, width: Int) {
      willChangeValue(for: \.leaf)
      self.leaf = leaf
      didChangeValue(for: \.leaf)
      willChangeValue(for: \.extent)
      extent.width = width
      didChangeValue(for: \.extent)
    }
  }

  @KeyValueObservable
  private final class Binder {
    var sheet: Sheet? = Sheet()
    var cover = Sheet()
  }

  /// What a subclass declares otherwise than its superclass.
  @KeyValueObservable
  private class Base {
    var name = ""
    var label = ""
    class func keyPathsForValuesAffectingTitle() -> Set<String> { ["name"] }
    var title: String { name }
    var plain: String { name }
  }

  @KeyValueObservable
  private final class Declared: Base {
    override class func keyPathsForValuesAffectingTitle() -> Set<String> { [] }
    override var title: String { label }
    class func keyPathsForValuesAffectingPlain() -> Set<String> { ["label"] }
    override var plain: String { name + label }
  }

  /// Whose property is announced by hand, with storage that does not notify.
  @KeyValueObservable
  private final class Announced: Base {
    @NotObserved private var hidden = ""
    override var plain: String { hidden }
    func announce(_ value: String) {
      willChangeValue(for: \.plain)
      hidden = value
      didChangeValue(for: \.plain)
    }
  }

  @KeyValueObservable
  private final class Holder {
    var base: Base
    init(_ base: Base) { self.base = base }
  }

  @KeyValueObservable
  private final class Language {
    nonisolated(unsafe) static let shared = Language()
    var name = "en"
  }

  extension String {
    fileprivate var localized: String { "\(Language.shared.name) \(self)" }
  }

  extension Int {
    fileprivate var localized: String { "\(Language.shared.name) \(self)" }
  }

  private struct Money: CustomStringConvertible {
    var cents = 0
    var description: String { cents.localized }
  }

  @KeyValueObservable
  private final class Bill {
    var count = 1
    var pieces: Int { count }
    class func keyPathsForValuesAffectingTotal() -> Set<String> { ["count"] }
    var total: Money { Money(cents: pieces) }
    class func keyPathsForValuesAffectingParts() -> Set<String> { ["count"] }
    var parts: [Money] { [total] }
    class func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \Bill.summary ? [\Bill.total.cents.localized] : []
    }
    var summary: String { total.description }
  }

  extension Array where Element == Character {
    fileprivate var localized: String { String(self).localized }
  }

  @Suite("Key paths that continue behind an announced or declared key", .serialized)
  struct ContinuedPathTests {
    private let binder = Binder()
    private let log = Log()

    private func changes<Object: KeyValueObservable, Value>(
      of object: Object, _ path: KeyPath<Object, Value>, _ body: () -> Void
    ) -> [String] {
      nonisolated(unsafe) var faults: [String] = []
      return KeyValueFault.withHandler {
        faults.append("\($0.code)")
        return .ignore
      } in: {
        let token = object.observe(path, options: [.old, .new]) { [log] _, change in
          log.add("\(change.oldValue.map { text($0) } ?? "-")>\(change.newValue.map { text($0) } ?? "-")")
        }
        body()
        token.invalidate()
        return faults + log.take()
      }
    }

    @Test func `A path that continues behind a declared property is told what its dependencies change`() {
      let (sheet, cover) = (binder.sheet!, binder.cover)
      var (told, values) = ([[String]](), ["a", "ab"])
      func both(_ sheet: Sheet) -> () -> Void {
        {
          sheet.hidden = ""
          for value in values { sheet.declare(value) }
        }
      }
      told.append(changes(of: sheet, \.declared.count, both(sheet)))
      told.append(changes(of: sheet, \.extent.width, both(sheet)))
      told.append(changes(of: sheet, \.letters?.count, both(sheet)))
      told.append(changes(of: sheet, \.letters!.count, both(sheet)))
      told.append(changes(of: binder, \.sheet?.declared.count, both(sheet)))
      told.append(changes(of: binder, \.sheet!.declared.count, both(sheet)))
      told.append(changes(of: binder, \.cover.declared.count, both(cover)))
      told.append(changes(of: binder, \.sheet?.extent.width, both(sheet)))
      told.append(changes(of: binder, \.sheet!.extent.width, both(sheet)))
      told.append(changes(of: binder, \.sheet?.letters?.count, both(sheet)))
      // Each path begins where the one before it has ended.
      for lines in told { #expect(lines == ["0>1", "1>2"] || lines == ["2>1", "1>2"]) }
      #expect(told.count == 10)
      values = ["b"]
      #expect(changes(of: sheet, \.letters!) { both(sheet)() }.count == 1)
      #expect(changes(of: binder, \.sheet?.letters?[0]) { sheet.declare("c") } == ["b>c"])
    }

    @Test func `A path that continues behind an announced property is told the announcements`() {
      let (sheet, cover) = (binder.sheet!, binder.cover)
      #expect(changes(of: sheet, \.manual.count) { sheet.manual = "a" } == ["0>1"])
      #expect(changes(of: sheet, \.manual.first?.isLetter) { sheet.manual = "1" } == ["true>false"])
      #expect(changes(of: binder, \.sheet?.manual.count) { sheet.manual = "ab" } == ["1>2"])
      #expect(changes(of: binder, \.sheet!.manual.count) { sheet.manual = "abc" } == ["2>3"])
      #expect(changes(of: binder, \.cover.manual.count) { cover.manual = "a" } == ["0>1"])
      let counts = Log()
      let token = binder.onChange(of: \.sheet?.manual.count) { _, count in counts.add("\(count ?? -1)") }
      sheet.manual = ""
      #expect(counts.lines == ["0"])
      token.invalidate()
    }

    @Test func `Such a path follows the objects on it, which may be nil`() {
      #expect(
        changes(of: binder, \.sheet?.manual.count) {
          let former = binder.sheet
          binder.sheet = nil
          former?.manual = "silent"
          binder.sheet = Sheet()
          binder.sheet?.manual = "ab"
        } == ["0>nil", "nil>0", "0>2"])
      #expect(
        changes(of: binder, \.sheet!.declared.count) {
          binder.sheet = nil
          binder.sheet = Sheet()
          binder.sheet?.declare("a")
        } == ["2>-", "->0", "0>1"])
      #expect(binder.observationInfo == nil)
    }

    @Test func `What the getter of a declared property reads does not count behind it either`() {
      #expect(
        changes(of: binder.cover, \.narrow.count) {
          binder.cover.other = "a"
          binder.cover.declare("b")
        } == ["0>2"])
    }

    @Test func `What the object's own class declares counts, not what its superclass declares`() {
      let object = Declared()
      let base: Base = object
      #expect(changes(of: base, \.title.count) { object.label = "a" } == ["0>1"])
      #expect(changes(of: base, \.plain.count) { object.name = "b" }.isEmpty)
      #expect(changes(of: base, \.plain.count) { object.label = "ab" } == ["2>3"])
      let announced = Announced()
      #expect(changes(of: announced as Base, \.plain.count) { announced.announce("a") } == ["0>1"])
      #expect(changes(of: Holder(announced), \.base.plain.count) { announced.announce("ab") } == ["1>2"])
      #expect(changes(of: Holder(announced), \.base.plain) { announced.announce("c") } == ["ab>c"])
    }

    @Test func `What the program's own extensions read behind a declared property counts`() {
      defer { Language.shared.name = "en" }
      #expect(
        changes(of: binder.cover, \.declared.localized) {
          Language.shared.name = "de"
          binder.cover.declare("x")
        } == ["en >de ", "de >de x"])
      Language.shared.name = "en"
      #expect(changes(of: binder.cover, \.letters!.localized) { Language.shared.name = "fr" } == ["en x>fr x"])
    }

    @Test func `What the program's code reads behind a stored component or a library's member counts, too`() {
      let bill = Bill()
      func told<Value>(_ path: KeyPath<Bill, Value>) -> [String] {
        Language.shared.name = "en"
        return changes(of: bill, path) { Language.shared.name = "de" }
      }
      defer { Language.shared.name = "en" }
      #expect(told(\.total.cents.localized) == ["en 1>de 1"])
      #expect(told(\.parts.description) == ["[en 1]>[de 1]"])
      #expect(told(\.summary) == ["en 1>de 1"])
      #expect(told(\.total.cents).isEmpty)
      #expect(changes(of: bill, \.total.cents) { bill.count = 2 } == ["1>2"])
    }

    @Test func `The properties of an object behind an announced property count too`() {
      let (sheet, leaf) = (binder.cover, Leaf())
      sheet.leaves = [leaf]
      #expect(
        changes(of: binder, \.cover.manualLeaves[0].trigger) {
          leaf.trigger = 1
          sheet.manualLeaves = [Leaf()]
          leaf.trigger = 2
        } == ["0>1", "1>0"])
    }
  }

  @Suite("Key paths through announced or declared keys")
  struct DeclaredPathTests {
    private let trunk = Trunk()
    private let log = Log()

    private func follow<Value>(_ path: KeyPath<Trunk, Value>) -> NSKeyValueObservation {
      trunk.observe(path, options: [.old, .new]) { [log] _, change in
        log.add("\(change.oldValue.map { "\($0)" } ?? "none")>\(change.newValue.map { "\($0)" } ?? "none")")
      }
    }

    @Test func `A manual announcement at the end of a path notifies, and so does each replacement on the path`() {
      let token = follow(\.sure.fixed.value)
      trunk.sure.fixed.value = 1
      trunk.sure.fixed = FinerLeaf()
      trunk.sure.fixed.value = 2
      trunk.sure = Branch()
      #expect(log.lines == ["0>1", "1>0", "0>2", "2>0"])
      token.invalidate()
      #expect(trunk.observationInfo == nil)
    }

    @Test func `Announcements of a stored property notify what goes through it`() {
      let rack = Rack()
      nonisolated(unsafe) var told: [String] = []
      let tokens = [
        rack.observe(\.leaf?.trigger, options: [.old, .new]) { _, change in
          told.append("\(change.oldValue!.map(String.init) ?? "nil")>\(change.newValue!.map(String.init) ?? "nil")")
        },
        rack.observe(\.extent.width, options: [.old, .new]) { _, change in
          told.append("width \(change.oldValue!)>\(change.newValue!)")
        },
      ]
      let next = Leaf()
      next.trigger = 7
      rack.put(next, width: 5)
      next.trigger = 8
      rack.put(nil, width: 6)
      #expect(told == ["0>7", "width 0>5", "7>8", "8>nil", "width 5>6"])
      for token in tokens { token.invalidate() }
    }

    @Test func `Manual announcements also notify through optionals, which may be nil`() {
      let token = follow(\.branch?.leaf?.value)
      let leaf = trunk.branch!.leaf!
      leaf.value = 1
      trunk.branch!.leaf = nil
      trunk.branch = nil
      trunk.branch = Branch()
      trunk.branch!.leaf!.value = 3
      leaf.value = 9
      #expect(
        log.lines == [
          "Optional(0)>Optional(1)", "Optional(1)>nil", "nil>nil", "nil>Optional(0)", "Optional(0)>Optional(3)",
        ])
      token.invalidate()
    }

    @Test func `Declared dependencies of a key replace the reads of its getter`() {
      let token = follow(\.sure.fixed.shown)
      trunk.sure.fixed.alsoRead = 5
      trunk.sure.fixed.trigger = 1
      #expect(log.lines.count == 1)
      token.invalidate()
    }

    @Test func `A lock that getter and setter take does not deadlock if the key is declared as manual`() {
      let token = follow(\.sure.fixed.guarded)
      trunk.sure.fixed.guarded = 4
      #expect(log.lines == ["0>4"])
      token.invalidate()
    }

    @Test func `Reports name the properties of a path`() {
      let token = follow(\.branch?.leaf?.value)
      let graph = ObservationGraph.current().json
      #expect(graph.contains("branch.leaf.value"))
      token.invalidate()
    }
  }
#endif
