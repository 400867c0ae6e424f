// Key paths with `!` and through implicitly unwrapped properties, while what is unwrapped is nil.
#if Macros
  import KeyValueObserving
  import Testing

  private struct Size { var width = 1 }

  @KeyValueObservable
  private final class Sheet: NSKeyValueObservingCustomization {
    var name: String
    var next: Sheet!
    var spare: Sheet?
    weak var owner: Sheet?
    var number: Int? = 3
    var parts: [Sheet] = []
    var size = Size()
    init(_ name: String = "new") { self.name = name }

    /// Declared to depend on a path with a forced component.
    var text: String { spare?.name ?? "none" }
    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
      key == \Sheet.text ? [\Sheet.spare!.name] : []
    }
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }
  }

  @Suite("Key paths with forced unwrapping")
  struct ForcedPathTests {
    private let sheet = Sheet()
    private let log = Log()

    @Test func `A path through an implicitly unwrapped property has no value while that is nil`() {
      let token = sheet.log(\.next.name, [.initial, .prior, .old, .new], to: log)
      sheet.next = Sheet("a")
      sheet.next = nil
      sheet.next = nil
      #expect(log.lines == ["->-", "prior ->-", "->a", "prior a>-", "a>-", "prior ->-", "->-"])
      token.invalidate()
      #expect(sheet.observationInfo == nil)
    }

    @Test func `A path with a forced and an optional component has a value up to the forced one`() {
      for (path, lines) in [
        (\Sheet.spare!.spare?.name, ["->nil", "nil>a", "a>-"]), (\Sheet.spare?.spare!.name, ["nil>-", "->a", "a>nil"]),
      ] {
        let token = sheet.log(path, to: log)
        sheet.spare = Sheet()
        sheet.spare!.spare = Sheet("a")
        sheet.spare = nil
        #expect(log.take() == lines)
        token.invalidate()
      }
    }

    @Test func `A forced value that is no object, or a weak object that is deallocated, is no value while it is nil`() {
      var owner: Sheet? = Sheet("a")
      sheet.owner = owner
      let tokens = [sheet.log(\.number!, to: log), sheet.log(\.owner!.name, to: log)]
      sheet.number = nil
      sheet.number = 4
      sheet.number = 5
      owner = nil
      #expect(log.lines == ["3>-", "->4", "4>5", "a>-"])
      withExtendedLifetime((tokens, owner)) {}
    }

    @Test func `What follows the forced object may be a member of a value or an element of an array`() {
      let width = sheet.log(\.next.size.width, to: log)
      let count = sheet.log(\.next.name.count, as: "count ", to: log)
      let part = sheet.log(\.next.parts[0].name, as: "part ", to: log)
      let next = Sheet("abc")
      next.parts = [Sheet("p")]
      sheet.next = next
      #expect(log.take() == ["part ->p", "count ->3", "->1"])
      next.size.width = 2
      next.name = "ab"
      next.parts[0].name = "q"
      next.parts = []
      #expect(log.take() == ["1>2", "count 3>2", "part p>q", "part q>-"])
      sheet.next = nil
      #expect(log.take() == ["part ->-", "count 2>-", "2>-"])
      withExtendedLifetime((width, count, part)) {}
    }

    @Test func `A source of such a path has no value, and a binding sets nothing, while it is nil`() {
      let other = Sheet()
      let source = sheet.source(\.next.name)
      #expect(source.value == nil)
      let token = source.bind(to: other, \.name)
      sheet.next = Sheet("a")
      #expect(other.name == "a" && source.value == "a")
      sheet.next = nil
      #expect(other.name == "a" && source.value == nil)
      token.invalidate()
    }

    @Test func `A declared dependency may have a forced component that is nil`() {
      let token = sheet.log(\.text, to: log)
      sheet.spare = Sheet("a")
      sheet.spare!.name = "b"
      sheet.spare = nil
      #expect(log.lines == ["none>a", "a>b", "b>none"])
      token.invalidate()
    }
  }
#endif
