// KVO0009 as a warning: an announced key that nobody observes and that resembles a property, except in a class that may have any key.
#if Macros
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Closed {
    var title = ""
    func announce() {
      willChangeValue(forKey: "titel")
      didChangeValue(forKey: "titel")
    }
  }

  @KeyValueObservable
  private class Answering {
    var title = ""
    func value(forUndefinedKey key: String) -> Any? { 1 }
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
  private final class AnsweringSubclass: Base {
    var pages = 1
    override func value(forUndefinedKey key: String) -> Any? { 1 }
  }
  private final class Undescribed: Base {
    override func value(forUndefinedKey key: String) -> Any? { 1 }
  }
  @KeyValueObservable
  private final class InheritingSubclass: Answering {
    var pages = 1
  }

  @Suite("Announced keys that are no properties")
  struct UnknownKeyTests {
    private func faults(_ body: () -> Void) -> [String] {
      nonisolated(unsafe) var faults: [String] = []
      KeyValueFault.withHandler {
        faults.append("\($0.code) \($0.severity) \($0.help ?? "-")")
        return .ignore
      } in: {
        body()
      }
      return faults
    }

    private func faults(ofAnnouncing key: String, of object: some KeyValueObservable) -> [String] {
      faults {
        object.willChangeValue(forKey: key)
        object.didChangeValue(forKey: key)
      }
    }

    private let warning = ["9 warning did you mean \"title\"?"]

    @Test func `A key that resembles a property is taken for a misspelling`() {
      #expect(faults { Closed().announce() } == warning)
      #expect(faults(ofAnnouncing: "titles", of: Closed()) == warning)
      #expect(faults(ofAnnouncing: "titles", of: Base()) == warning)
      #expect(faults(ofAnnouncing: "other", of: Closed()) == [])
    }

    @Test func `A class that answers undefined keys may have any key, and so may its subclasses`() {
      #expect(faults(ofAnnouncing: "titles", of: Answering()) == [])
      #expect(faults(ofAnnouncing: "titles", of: AnsweringSubclass()) == [])
      #expect(faults(ofAnnouncing: "titles", of: Undescribed()) == [])
      #expect(faults(ofAnnouncing: "titles", of: InheritingSubclass()) == [])
    }

    @Test func `A class that announces keys which are no literals may have any key`() {
      #expect(faults { Announcing().announce("titles") } == [])
    }
  }
#endif
