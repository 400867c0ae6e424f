// Typed key paths through keys that are announced manually, or declared as dependent on others.
#if Macros
  import KeyValueObserving
  import Testing

  /// Computed properties of values that no property holds.
  @KeyValueObservable
  private final class Sheet {
    var basic = ""
    var other = ""
    var trigger = 0
    @NotObserved var hidden = ""
    var declared: String { hidden }
    class func keyPathsForValuesAffectingDeclared() -> Set<String> { ["basic"] }
    var extent: Extent { Extent(width: hidden.count) }
    class func keyPathsForValuesAffectingExtent() -> Set<String> { ["basic"] }
    var letters: [Character]? { Array(hidden) }
    class func keyPathsForValuesAffectingLetters() -> Set<String> { ["basic"] }
    /// Its getter reads a property that does not count.
    var narrow: String { other + hidden }
    class func keyPathsForValuesAffectingNarrow() -> Set<String> { ["basic"] }
    var length: Int { narrow.count }
    class func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \Sheet.length ? [\Sheet.narrow.count] : []
    }
    var manual: String {
      get { hidden }
      set {
        willChangeValue(for: \.manual)
        hidden = newValue
        didChangeValue(for: \.manual)
      }
    }

    /// Changes the value, and a key that the declared ones depend on.
    func declare(_ value: String) {
      willChangeValue(for: \.basic)
      hidden = value
      didChangeValue(for: \.basic)
    }
  }

  private struct Extent {
    var width = 0
  }

  @KeyValueObservable
  private final class Binder {
    var sheet: Sheet? = Sheet()
    var cover = Sheet()
  }

  /// Announces what it stores.
  @KeyValueObservable
  private final class Rack {
    @NotObserved private(set) var sheet: Sheet? = Sheet()
    @NotObserved private(set) var extent = Extent()

    func put(_ sheet: Sheet?, width: Int) {
      willChangeValue(for: \.sheet)
      self.sheet = sheet
      didChangeValue(for: \.sheet)
      willChangeValue(for: \.extent)
      extent.width = width
      didChangeValue(for: \.extent)
    }
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

  extension Array where Element == Character {
    fileprivate var localized: String { String(self).localized }
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

  @Suite("Key paths through announced or declared keys", .serialized)
  struct DeclaredPathTests {
    private let binder = Binder()

    /// Returns the faults and the changes of a key path while a body runs.
    private func changes<Object: KeyValueObservable, Value>(
      of object: Object, _ path: KeyPath<Object, Value>, _ body: () -> Void
    ) -> [String] {
      let log = Log()
      let raised = faults {
        let token = object.log(path, to: log)
        body()
        token.invalidate()
      }
      return raised.map { "\($0.code)" } + log.lines
    }

    @Test func `A path that continues behind a declared property is notified of what its dependencies change`() {
      let (sheet, cover) = (binder.sheet!, binder.cover)
      func declareTwice(_ sheet: Sheet) -> () -> Void {
        {
          sheet.hidden = ""
          sheet.declare("a")
          sheet.declare("ab")
        }
      }
      let onSheet = declareTwice(sheet)
      let rows = [
        changes(of: sheet, \.declared.count, onSheet), changes(of: sheet, \.extent.width, onSheet),
        changes(of: sheet, \.letters?.count, onSheet), changes(of: sheet, \.letters!.count, onSheet),
        changes(of: binder, \.sheet?.declared.count, onSheet), changes(of: binder, \.sheet!.declared.count, onSheet),
        changes(of: binder, \.cover.declared.count, declareTwice(cover)),
        changes(of: binder, \.sheet?.extent.width, onSheet), changes(of: binder, \.sheet!.extent.width, onSheet),
        changes(of: binder, \.sheet?.letters?.count, onSheet),
      ]
      // Each path begins where the one before it has ended.
      for (row, lines) in rows.enumerated() {
        #expect(lines == ["0>1", "1>2"] || lines == ["2>1", "1>2"], "row \(row)")
      }
      #expect(changes(of: binder, \.sheet?.letters?[0]) { sheet.declare("c") } == ["a>c"])
    }

    @Test func `A path that continues behind an announced property is notified of the announcements`() {
      let (sheet, cover) = (binder.sheet!, binder.cover)
      #expect(changes(of: sheet, \.manual.count) { sheet.manual = "a" } == ["0>1"])
      #expect(changes(of: sheet, \.manual.first?.isLetter) { sheet.manual = "1" } == ["true>false"])
      #expect(changes(of: binder, \.sheet?.manual.count) { sheet.manual = "ab" } == ["1>2"])
      #expect(changes(of: binder, \.sheet!.manual.count) { sheet.manual = "abc" } == ["2>3"])
      #expect(changes(of: binder, \.cover.manual.count) { cover.manual = "a" } == ["0>1"])
      let log = Log()
      let token = binder.onChange(of: \.sheet?.manual.count) { _, count in log.add("\(count ?? -1)") }
      sheet.manual = ""
      #expect(log.lines == ["0"])
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
      let (rack, next) = (Rack(), Sheet())
      next.trigger = 7
      #expect(
        changes(of: rack, \.sheet?.trigger) {
          rack.put(next, width: 5)
          next.trigger = 8
          rack.put(nil, width: 5)
        } == ["0>7", "7>8", "8>nil"])
      #expect(changes(of: rack, \.extent.width) { rack.put(next, width: 6) } == ["5>6"])
    }

    @Test func `What the getter of a declared property reads does not count behind it either`() {
      #expect(
        changes(of: binder.cover, \.narrow.count) {
          binder.cover.other = "a"
          binder.cover.declare("b")
        } == ["0>2"])
      #expect(
        changes(of: binder.cover, \.length.description) {
          binder.cover.other = "ab"
          binder.cover.declare("c")
        } == ["2>3"])
    }

    @Test func `What the object's own class declares counts, not what its superclass declares`() {
      let object = Declared()
      let base: Base = object
      #expect(changes(of: base, \.title.count) { object.label = "a" } == ["0>1"])
      #expect(changes(of: base, \.plain.count) { object.name = "b" }.isEmpty)
      #expect(changes(of: base, \.plain.count) { object.label = "ab" } == ["2>3"])
      let announced = Announced()
      #expect(changes(of: announced as Base, \.plain.count) { announced.announce("a") } == ["0>1"])
    }

    @Test func `What the program's own code reads behind a declared property counts, also within a library's member`() {
      let bill = Bill()
      func changesOfLanguage<Object: KeyValueObservable, Value>(
        _ object: Object, _ path: KeyPath<Object, Value>
      ) -> [String] {
        Language.shared.name = "en"
        defer { Language.shared.name = "en" }
        return changes(of: object, path) { Language.shared.name = "de" }
      }
      binder.cover.declare("x")
      #expect(changesOfLanguage(binder.cover, \.declared.localized) == ["en x>de x"])
      #expect(changesOfLanguage(binder.cover, \.letters!.localized) == ["en x>de x"])
      #expect(changesOfLanguage(bill, \.total.cents.localized) == ["en 1>de 1"])
      #expect(changesOfLanguage(bill, \.parts.description) == ["[en 1]>[de 1]"])
      #expect(changesOfLanguage(bill, \.summary) == ["en 1>de 1"])
      #expect(changesOfLanguage(bill, \.total.cents).isEmpty)
      #expect(changes(of: bill, \.total.cents) { bill.count = 2 } == ["1>2"])
    }

  }
#endif
