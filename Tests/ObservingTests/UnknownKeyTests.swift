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
  private final class InheritingSubclass: Answering {
    var pages = 1
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
      for object in [Answering(), InheritingSubclass(), AnsweringSubclass(), Undescribed()] as [any KeyValueObservable]
      {
        #expect(warnings(ofAnnouncing: "titles", of: object) == [], "\(type(of: object))")
      }
    }

    @Test func `A class that announces keys which are no literals may have any key`() {
      #expect(warnings { Announcing().announce("titles") } == [])
    }
  }
#endif
