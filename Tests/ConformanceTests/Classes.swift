// Sections G, H and K of Documentation/AppleCompatibility.md: the class of an observed object, and what classes declare for keys.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  /// Overrides a setter and calls super.
  private final class Sub: T {
    override var v: Int {
      get { super.v }
      set { super.v = newValue }
    }
    func setThroughSuper(_ value: Int) { super.v = value }
  }

  @KeyValueObservable
  private final class Saved: Codable {
    var v = 1
  }

  /// Overrides the methods that Apple's automatic setters call.
  @KeyValueObservable
  private final class Overriding: KeyValueObject {
    var v = 0
    @NotObserved var calls = 0
    override func willChangeValue(forKey key: String) {
      calls += 1
      super.willChangeValue(forKey: key)
    }
    override func didChangeValue(forKey key: String) {
      calls += 1
      super.didChangeValue(forKey: key)
    }
  }

  /// Counts the calls of its class methods.
  @KeyValueObservable
  private final class Asked {
    var v = 0
    static nonisolated(unsafe) var questions: [String] = []
    static func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      questions.append("automatic \(key)")
      return true
    }
    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      questions.append("affecting \(key)")
      return []
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

  private func className(_ cls: OpaquePointer?) -> String { cls.map { String(cString: kvo_class_name($0)) } ?? "-" }

  @Suite("G, H, K. Classes, and what they declare for keys")
  struct Classes {
    let t = T()
    let w = Watcher()

    @Test func `86, 105, 106, 107: The class is unchanged for the program; only the isa differs`() throws {
      let (sub, saved) = (Sub(), Saved())
      sub.add(w, "v")
      saved.add(w, "v")
      #expect(type(of: sub) == Sub.self && type(of: sub as T) == Sub.self)
      #expect((sub as AnyObject) is T && (sub as AnyObject) is Sub)
      #expect(_getSuperclass(type(of: sub)) == T.self)
      #expect(String(describing: type(of: sub)) == "Sub")
      #expect(String(decoding: try JSONEncoder().encode(saved), as: UTF8.self) == #"{"v":1}"#)
      let object = sub.__keyValueObject
      #expect(className(kvo_object_class(object)).contains("Sub"))  // "Sub#2" beside another class of that name
      #expect(!className(kvo_object_class(object)).hasPrefix("KVONotifying_"))
      #expect(className(kvo_object_isa(object)) == "KVONotifying_" + className(kvo_object_class(object)))
      sub.remove(w, "v")
      saved.remove(w, "v")
    }

    @Test func `94: Setters of every type notify`() {
      t.add(w, "d")
      t.add(w, "flag")
      t.add(w, "range", [.new])
      t.d = 2
      t.flag = true
      t.range = NSRange(location: 9, length: 0)
      #expect(w.lines.prefix(2) == ["0.5>2.0", "false>true"])
      #expect(w.changes.last?[.newKey] as? NSRange == NSRange(location: 9, length: 0))
      for key in ["d", "flag", "range"] { t.remove(w, key) }
    }

    @Test func `97: A setter notifies without calling overrides of willChangeValue and didChangeValue`() {
      let object = Overriding()
      object.add(w, "v")
      object.v = 1
      #expect(w.lines == ["0>1"] && object.calls == 0)
      object.willChangeValue(forKey: "v")
      object.didChangeValue(forKey: "v")
      #expect(object.calls == 2)
      object.remove(w, "v")
    }

    @Test func `98, 100: An overriding setter that calls super notifies once, and so does a set through super`() {
      let sub = Sub()
      sub.add(w, "v")
      sub.v = 1
      sub.setThroughSuper(2)
      #expect(w.lines == ["0>1", "1>2"])
      sub.remove(w, "v")
    }

    @Test func `112, 178: The class is asked once per key, and its answers are cached`() {
      for _ in 0..<3 {
        let asked = Asked()
        asked.add(w, "v")
        asked.v = 1
        asked.remove(w, "v")
      }
      #expect(Asked.questions.filter { $0 == "automatic v" }.count == 1)
      #expect(Asked.questions.filter { $0 == "affecting v" }.count == 1)
    }

    @Test func `113: The answer of the object's dynamic class counts`() {
      let automatic = Automatic()
      automatic.add(w, "manual")
      automatic.manual = 1
      #expect(w.lines == ["0>1"])
      automatic.remove(w, "manual")
    }

    @Test func `113, 179: A member that a subclass without the macro adds for one key is not called`() {
      let unlisted = Unlisted()
      unlisted.add(w, "v")
      unlisted.v = 1
      unlisted.other = 1
      #expect(w.lines == ["0>1"])
      unlisted.remove(w, "v")
    }

    @Test func `36, 39: The order is that of registration over all keys of a change, including dependent ones`() {
      let numbers = Numbers()
      let (int, float) = (Watcher("anInt", w.log), Watcher("aFloat", w.log))
      numbers.add(int, "anInt", [.prior])
      numbers.add(float, "aFloat", [.prior])
      numbers.anInt = 1
      #expect(w.lines == ["anInt prior ->-", "aFloat prior ->-", "aFloat ->-", "anInt ->-"])
      numbers.remove(int, "anInt")
      numbers.remove(float, "aFloat")
    }

    @Test func `176, 280: A key that is declared to affect itself is a fault`() {
      #expect(
        sentences { Circular().observe(\.own) { _, _ in }.invalidate() } == [
          "NSInternalInconsistencyException Circular: A +keyPathsForValuesAffectingValueForKey: message returned a set that "
            + "includes the same key that was passed in, which is not valid.\nPassed-in key: own\nReturned key path set: "
            + "{(\n    own\n)}"
        ])
    }

    @Test func `177: A path through a key that is declared to affect the key is a fault`() {
      let circular = Circular()
      let raised = sentences {
        circular.add(w, "path")
        circular.remove(w, "path")
      }
      #expect(raised.count == 1)
      #expect(
        raised.first?.contains(
          "returned a set that includes a key path that starts with the same key that was passed in, which is not valid. The "
            + "property identified by the key path already depends on the property identified by the key, never vice versa."
        ) == true)
    }
  }
#endif
