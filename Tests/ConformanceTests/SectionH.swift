// Section H of Documentation/AppleCompatibility.md: keys without automatic notification.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Counts the calls of its class method.
  @KeyValueObservable
  private final class Asked {
    var v = 0
    static nonisolated(unsafe) var questions: [String] = []
    static func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      questions.append(key)
      return true
    }
  }

  /// Overrides its superclass's answer.
  private final class Automatic: T {
    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }
  }

  @KeyValueObservable
  private class Listed {
    var v = 0
    var other = 0
  }

  /// Has no macro that would list its members.
  private final class Unlisted: Listed {
    class func automaticallyNotifiesObserversOfV() -> Bool { false }
    class func keyPathsForValuesAffectingV() -> Set<String> { ["other"] }
  }

  @Suite("H. Keys without automatic notification")
  struct SectionH {
    let t = T()
    let w = Watcher()

    @Test func `109, 110: Setting notifies unless the class declares the key as manual`() {
      t.add(w, "v")
      t.add(w, "manual")
      t.v = 1
      t.manual = 1
      #expect(w.lines == ["w 0>1"])
      t.remove(w, "v")
      t.remove(w, "manual")
    }

    @Test func `111: A manual key notifies once per pair`() {
      t.add(w, "manual")
      t.willChangeValue(forKey: "manual")
      t.manual = 1
      t.didChangeValue(forKey: "manual")
      #expect(w.lines == ["w 0>1"])
      t.remove(w, "manual")
    }

    @Test func `112: The class is asked once per key, and its answer is cached`() {
      for _ in 0..<3 {
        let asked = Asked()
        asked.add(w, "v")
        asked.v = 1
        asked.remove(w, "v")
      }
      #expect(Asked.questions.filter { $0 == "v" }.count == 1)
    }

    @Test func `113: The answer of the object's dynamic class counts`() {
      let automatic = Automatic()
      automatic.add(w, "manual")
      automatic.manual = 1
      #expect(w.lines == ["w 0>1"])
      automatic.remove(w, "manual")
    }

    @Test func `113, 179: A member that a subclass without the macro adds for one key is not called`() {
      let unlisted = Unlisted()
      unlisted.add(w, "v")
      unlisted.v = 1
      unlisted.other = 1
      #expect(w.lines == ["w 0>1"])
      unlisted.remove(w, "v")
    }
  }
#endif
