// Section G of Documentation/AppleCompatibility.md: the class of an observed object, and interception.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  /// A class whose keys are all manual.
  @KeyValueObservable
  private final class Manual {
    var v = 0
    static func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
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

  @KeyValueObservable
  private final class Saved: Codable {
    var v = 1
  }

  private func className(_ cls: OpaquePointer?) -> String { cls.map { String(cString: kvo_class_name($0)) } ?? "-" }

  @Suite("G. Class identity and interception")
  struct SectionG {
    let t = T()
    let w = Watcher()

    @Test func `86, 105, 106, 107: The class is unchanged for the program; only the isa differs`() throws {
      let (sub, coded) = (Sub(), Saved())
      sub.add(w, "v")
      coded.add(w, "v")
      #expect(type(of: sub) == Sub.self && type(of: sub as T) == Sub.self)
      #expect((sub as AnyObject) is T && (sub as AnyObject) is Sub)
      #expect(_getSuperclass(type(of: sub)) == T.self)
      #expect(String(describing: type(of: sub)) == "Sub")
      #expect(String(decoding: try JSONEncoder().encode(coded), as: UTF8.self) == #"{"v":1}"#)
      let object = sub.__keyValueObject
      #expect(className(kvo_object_class(object)).contains("Sub"))  // "Sub#2" beside another class of that name
      #expect(!className(kvo_object_class(object)).hasPrefix("KVONotifying_"))
      #expect(className(kvo_object_isa(object)) == "KVONotifying_" + className(kvo_object_class(object)))
      sub.remove(w, "v")
      coded.remove(w, "v")
    }

    @Test func `89: There is one notifying class per class, however many objects and keys are observed`() {
      let other = T()
      t.add(w, "v")
      other.add(w, "d")
      #expect(kvo_object_isa(t.__keyValueObject) == kvo_object_isa(other.__keyValueObject))
      t.remove(w, "v")
      other.remove(w, "d")
    }

    @Test func `90: An object whose keys are all manual keeps its isa, and its setters notify nobody`() {
      let manual = Manual()
      manual.add(w, "v")
      #expect(!manual.isSwizzled && manual.observationInfo != nil)
      manual.v = 1
      #expect(w.lines.isEmpty)
      manual.remove(w, "v")
    }

    @Test func `94: Setters of every type notify`() {
      let token = t.observe(\.range, options: [.old, .new]) { [w] _, change in
        w.log.add("\(change.oldValue!.location)>\(change.newValue!.location)")
      }
      t.add(w, "d")
      t.add(w, "flag")
      t.range = NSRange(location: 9, length: 0)
      t.d = 2
      t.flag = true
      #expect(w.lines == ["1>9", "w 0.5>2.0", "w false>true"])
      t.remove(w, "d")
      t.remove(w, "flag")
      token.invalidate()
    }

    @Test func `97: A setter notifies without calling overrides of willChangeValue and didChangeValue`() {
      let object = Overriding()
      object.add(w, "v")
      object.v = 1
      #expect(w.lines == ["w 0>1"] && object.calls == 0)
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
      #expect(w.lines == ["w 0>1", "w 1>2"])
      sub.remove(w, "v")
    }

    @Test func `99: A set through self, the object or a key path notifies; a set of the storage does not`() {
      t.add(w, "v")
      t.v = 1
      t[keyPath: \.v] = 2
      t.add(w, "hiddenChild", [])
      t.hiddenChild = T()
      #expect(w.lines == ["w 0>1", "w 1>2"])
      t.remove(w, "v")
      t.remove(w, "hiddenChild")
    }

    @Test func `101, 102: Other objects of the class are not affected, nor is this one after the last removal`() {
      let other = T()
      t.add(w, "v")
      #expect(t.isSwizzled && !other.isSwizzled && other.observationInfo == nil)
      t.remove(w, "v")
      #expect(!t.isSwizzled)
    }

    @Test func `108: Reports name the class as in the source`() throws {
      t.add(w, "v")
      let fault = try #require(faults { t.remove(w, "d") }.first)
      #expect(fault.summary.contains("T@0x") && !fault.report.contains("KVONotifying"))
      t.remove(w, "v")
    }
  }
#endif
