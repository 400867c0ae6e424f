// Warnings of what reaches nobody: observations that can never notify (KVO0011), and announcements of misspelt keys (KVO0009).
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  private final class Plain {
    var value = 0
  }

  @propertyWrapper private struct Wrapped {
    var wrappedValue: Int
  }

  private protocol Delegate: AnyObject {}
  private final class Someone: Delegate {}

  @KeyValueObservable
  private class Quiet {
    var title = ""
    let constant = 1
    @NotObserved var hidden = 0
    @NotObserved lazy var made = 0
    @NotObserved @Wrapped var inBox = 0
    let plain = Plain()
    var clock: Date { Date() }
    var overHidden: Int { hidden }
    var overPlain: Int { plain.value }
    var overTitle: String { title + "!" }
    var declared: Int { hidden }
    class var keyPathsForValuesAffectingDeclared: Set<String> { ["hidden"] }
    /// Announced manually: the class declares that, or makes an announcement.
    var said: Int { hidden }
    class var automaticallyNotifiesObserversOfSaid: Bool { false }
    var done: Int { hidden }
    weak var delegate: (any Delegate)?
    weak var someone: Someone?
    weak var other: Quiet?

    func finish() {
      willChangeValue(forKey: "done")
      willChangeValue(for: \.constant)
      willChangeValue(forKey: "byHand")
      hidden += 1
      didChangeValue(forKey: "byHand")
      didChangeValue(for: \.constant)
      didChangeValue(forKey: "done")
    }
  }

  @KeyValueObservable
  private final class Strict {
    var title = ""
    let constant = 1
    static func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "announcedElsewhere" }
  }

  @KeyValueObservable
  private class Open {
    var title = ""
    func value(forUndefinedKey key: String) -> Any? { key }
  }

  @KeyValueObservable
  private final class OpenByInheritance: Open {
    var pages = 1
  }

  @KeyValueObservable
  private final class Closed {
    var title = ""
    func announce() {
      willChangeValue(forKey: "titel")
      didChangeValue(forKey: "titel")
    }
  }

  @KeyValueObservable
  private final class Announcing {
    var title = ""
    func announce(_ key: String) {
      willChangeValue(forKey: key)
      didChangeValue(forKey: key)
    }
  }

  @KeyValueObservable
  private class Base {
    var title = ""
  }

  @KeyValueObservable
  private final class OpenSubclass: Base {
    var pages = 1
    override func value(forUndefinedKey key: String) -> Any? { key }
  }

  @KeyValueObservable
  private class Misspelt {
    var first = ""
    @NotObserved var hidden = ""
    var full: String { hidden }
    class var keyPathsForValuesAffectingFull: Set<String> { ["frist.length", "first", "byHand"] }
    var shown: String { hidden }
    class var keyPathsForValuesAffectingShown: Set<String> { ["byHand", "hidden"] }

    func announce() {
      willChangeValue(forKey: "byHand")
      didChangeValue(forKey: "byHand")
    }
  }

  @KeyValueObservable
  private final class Provider: Misspelt, @unchecked Sendable {
    override func value(forUndefinedKey key: String) -> Any? { key }
  }

  private final class Unmarked: Quiet, @unchecked Sendable {
    override func value(forUndefinedKey key: String) -> Any? { key }
  }

  @Suite("Observations that never notify")
  struct SilenceTests {
    private func raised<Value>(by path: KeyPath<Quiet, Value>) -> [KeyValueFault] {
      faults { Quiet().observe(path) { _, _ in }.invalidate() }
    }

    private func raised(by key: String, of object: any KeyValueObservable) -> [KeyValueFault] {
      let watcher = Watcher()
      return faults {
        object.addObserver(watcher, forKeyPath: key, options: [.new])
        object.removeObserver(watcher, forKeyPath: key)
      }
    }

    /// The codes and severities of faults.
    private func kinds(_ faults: [KeyValueFault]) -> [String] { faults.map { "\($0.code) \($0.severity)" } }

    @Test func `A property with notifying accessors is no fault, including a weak one, whatever its value`() {
      let (quiet, someone) = (Quiet(), Someone())
      (quiet.delegate, quiet.someone) = (someone, someone)
      let found = [
        raised(by: \.title), raised(by: \.overTitle), raised(by: \.declared), raised(by: \.delegate),
        raised(by: \.someone), raised(by: \.other), raised(by: "someone", of: quiet),
        faults { quiet.observe(\.delegate) { _, _ in }.invalidate() },
      ]
      #expect(kinds(found.flatMap(\.self)) == [])
    }

    @Test func `A manually announced key is no fault, nor one that the class provides as undefined, or may provide`() {
      let found = [
        raised(by: \.said), raised(by: \.done), raised(by: \.constant), raised(by: "byHand", of: Quiet()),
        raised(by: "announcedElsewhere", of: Strict()), raised(by: "anything", of: Open()),
        raised(by: "anything", of: Unmarked()), raised(by: "anything", of: KeyValueDictionary()),
      ]
      #expect(kinds(found.flatMap(\.self)) == [])
    }

    @Test func `An expression that reads only values that cannot notify is a warning; a constant is an error`() {
      for path in [\Quiet.overHidden, \.overPlain] { #expect(kinds(raised(by: path)) == ["11 warning"]) }
      #expect(kinds(raised(by: \.clock)) == ["11 warning"])
      #expect(kinds(raised(by: "overPlain", of: Quiet())) == ["11 warning"])
      #expect(kinds(faults { Strict().observe(\.constant) { _, _ in }.invalidate() }) == ["11 error"])
      #expect(raised(by: "constant", of: Strict()).map(\.code) == [11])
    }

    @Test func `An undefined key is a warning that names the similar key`() {
      let found = raised(by: "tilte", of: Strict())
      #expect(kinds(found) == ["11 warning"] && found.first?.file == #fileID)
      #expect(found.first?.help?.hasPrefix("did you mean \"title\"? the keys of Strict are: ") == true)
    }

    @Test func `An undefined key that is declared to affect another one is a warning that names both`() {
      let typed = faults { Misspelt().observe(\.full) { _, _ in }.invalidate() }
      for found in [typed, raised(by: "full", of: Misspelt())] {
        #expect(kinds(found) == ["11 warning"] && found.first?.file == #fileID)
        let summary = found.first?.summary ?? ""
        #expect(summary.contains("\"frist.length\", which is declared to affect \"full\" of Misspelt@0x"))
        #expect(found.first?.help?.hasPrefix("did you mean \"first\"? the keys of Misspelt are: ") == true)
      }
      #expect(raised(by: "shown", of: Misspelt()).isEmpty)
      #expect(raised(by: "full", of: Provider()).isEmpty)
    }

    @Test func `A @NotObserved property, also a lazy one, is a warning; one with a wrapper may be announced by that`() {
      for found in [raised(by: \.hidden), raised(by: \.made), raised(by: "hidden", of: Quiet())] {
        #expect(kinds(found) == ["11 warning"] && found.first?.file == #fileID)
        #expect(found.first?.summary.contains("the property is @NotObserved") == true)
      }
      #expect(raised(by: \.inBox).isEmpty)
    }

    @Test func `All properties of an object are those that can notify`() {
      let (quiet, receiver) = (Quiet(), Plain())
      nonisolated(unsafe) var keys: Set<String> = []
      let found = faults {
        quiet.observeAll(options: [.initial], for: receiver) { _, _, key, _ in keys.insert(key) }
      }
      #expect(keys.isDisjoint(with: ["hidden", "made", "inBox", "constant", "plain"]))
      #expect(keys.isSuperset(of: ["title", "overTitle", "said", "done", "delegate"]))
      let silent = ["clock", "overHidden", "overPlain"]
      #expect(found.allSatisfy { fault in silent.contains { fault.summary.contains($0) } })
    }

    @Test func `An entry of a dictionary whose key has dots is a warning`() {
      let settings = KeyValueDictionary(["user.name": "A", "user": KeyValueDictionary()])
      #expect(kinds(raised(by: "user.name", of: settings)) == ["11 warning"])
      #expect(raised(by: "user.age", of: settings).isEmpty)
    }
  }

  @Suite("Announced keys that are no properties")
  struct UnknownKeyTests {
    private func warnings(_ body: () -> Void) -> [String] {
      faults(in: body).map { "\($0.code) \($0.severity) \($0.help ?? "-")" }
    }

    private func warnings(ofAnnouncing key: String, of object: any KeyValueObservable) -> [String] {
      warnings {
        object.willChangeValue(forKey: key)
        object.didChangeValue(forKey: key)
      }
    }

    @Test func `A key that resembles a property is taken for a misspelling`() {
      let warning = ["9 warning did you mean \"title\"?"]
      #expect(warnings { Closed().announce() } == warning)
      for object in [Closed(), Base()] as [any KeyValueObservable] {
        #expect(warnings(ofAnnouncing: "titles", of: object) == warning)
        #expect(warnings(ofAnnouncing: "other", of: object) == [])
      }
    }

    @Test func `A class that answers undefined keys may have any key, and so may its subclasses`() {
      for object in [Open(), OpenByInheritance(), OpenSubclass(), Unmarked()] as [any KeyValueObservable] {
        #expect(warnings(ofAnnouncing: "titles", of: object) == [], "\(type(of: object))")
      }
    }

    @Test func `A class that announces keys which are no literals may have any key`() {
      #expect(warnings { Announcing().announce("titles") } == [])
    }
  }
#endif
