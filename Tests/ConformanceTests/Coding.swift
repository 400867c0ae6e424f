// Sections V to Y and T of Documentation/AppleCompatibility.md: key-value coding, dictionaries and collections.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Found by the rules for `<Key>`: only the first letter changes.
  @KeyValueObservable
  private final class Capitalized {
    var isURL = "u"
    var fooBar = 0
    @NotObserved var plain = 0
    var dependent: Int { plain }
    class func keyPathsForValuesAffectingDependent() -> Set<String> { ["fooBar"] }
  }

  /// Replaces nil by 0, and validates.
  @KeyValueObservable
  private final class Lenient {
    var age = 5
    var name = ""

    func setNilValueForKey(_ key: String) { age = 0 }

    func validateName(_ value: inout Any?) throws {
      guard let name = value as? String, !name.isEmpty else { throw Invalid() }
      value = name.capitalized
    }

    struct Invalid: Error {}
  }

  /// Declares a path through an array; its value reads no observed property.
  @KeyValueObservable
  private final class Declaring {
    var items = [T(v: 1)]
    @NotObserved var hidden = 0
    var total: Int { hidden }
    static func keyPathsForValuesAffectingTotal() -> Set<String> { ["items.v"] }
  }

  @Suite("V to Y, T. Key-value coding")
  struct Coding {
    let t = T()
    let w = Watcher()

    @Test func `336: <Key> is the key with its first letter capitalized and the rest unchanged`() {
      let object = Capitalized()
      #expect(object.value(forKey: "URL") as? String == "u")
      object.add(w, "dependent", [])
      object.fooBar = 1
      #expect(w.lines == ["->-"])
      object.remove(w, "dependent")
    }

    @Test func `338, 339: Values of every type are returned unchanged`() {
      #expect(t.value(forKey: "d") as? Double == 0.5)
      #expect(t.value(forKey: "range") as? NSRange == NSRange(location: 1, length: 2))
      var number = 5
      withUnsafeMutablePointer(to: &number) { pointer in
        t.any = pointer
        #expect(t.value(forKey: "any") as? UnsafeMutablePointer<Int> == pointer)
      }
    }

    @Test func `346, 347: Dictionaries of values contain NSNull for nil, in both directions`() {
      let values = t.dictionaryWithValues(forKeys: ["v", "s"])
      #expect(values["v"] as? Int == 0 && values["s"] is NSNull)
      t.s = "s"
      t.setValuesForKeys(["v": 9, "s": NSNull()])
      #expect(t.v == 9 && t.s == nil)
    }

    @Test func `157, 322, 348: NSNull has no keys`() {
      t.any = NSNull()
      var value: Any? = 1
      let raised = faults {
        value = t.value(forKeyPath: "any.v")
        t.add(w, "any.v")
      }
      #expect(raised.map(\.exceptionName) == ["NSUnknownKeyException", "NSUnknownKeyException"])
      #expect(value == nil && t.observationInfo == nil)
    }

    @Test func `349, 368: A key of a dictionary need not be ASCII, and may be empty`() {
      let dictionary = KeyValueDictionary()
      dictionary.setValue(1, forKey: "ключ")
      #expect(dictionary.value(forKey: "ключ") as? Int == 1)
      #expect(["": 5].value(forKey: "") as? Int == 5)
    }

    @Test func `357: setNilValueForKey may set another value, which notifies once`() {
      let lenient = Lenient()
      lenient.add(w, "age")
      lenient.setValue(nil, forKey: "age")
      #expect(w.lines == ["5>0"])
      lenient.remove(w, "age")
    }

    @Test func `359: The new value is retained and the old one released`() {
      weak var old: T?
      weak var new: T?
      do {
        let (first, second) = (T(), T())
        (old, new) = (first, second)
        t.setValue(first, forKey: "child")
        t.setValue(second, forKey: "child")
      }
      #expect(old == nil && new != nil)
    }

    @Test func `362, 363: validate<Key> is called by validateValue for a key or a path, not by a set`() throws {
      let lenient = Lenient()
      t.any = lenient
      var (ofKey, ofPath): (Any?, Any?) = ("jane", "jack")
      try lenient.validateValue(&ofKey, forKey: "name")
      try t.validateValue(&ofPath, forKeyPath: "any.name")
      #expect(ofKey as? String == "Jane" && ofPath as? String == "Jack")
      var value: Any? = ""
      #expect(throws: Lenient.Invalid.self) { try lenient.validateValue(&value, forKey: "name") }
      lenient.setValue("", forKey: "name")
      #expect(lenient.name == "")
      value = 5
      try lenient.validateValue(&value, forKey: "age")
      try t.validateValue(&value, forKeyPath: "child.v")
      #expect(value as? Int == 5)
    }

    @Test func `365, 366: A set sets an entry, and nil removes it, in a mutable dictionary`() {
      var dictionary: [String: Any] = ["a": 1]
      dictionary.setValue(2, forKey: "a")
      dictionary.setValue(3, forKey: "b")
      #expect(dictionary as? [String: Int] == ["a": 2, "b": 3])
      dictionary.setValue(nil, forKey: "a")
      #expect(dictionary as? [String: Int] == ["b": 3])
      let object = KeyValueDictionary(["a": 1])
      object.setValue(nil, forKey: "a")
      #expect(object.count == 0)
    }

    @Test func `367: An entry whose key has dots has precedence over a path`() {
      let dictionary: [String: Any] = ["a.b": 1, "a": ["b": 2, "c": 3]]
      #expect(dictionary.value(forKeyPath: "a.b") as? Int == 1)
      #expect(dictionary.value(forKeyPath: "a.c") as? Int == 3)
    }

    @Test func `369: A path cannot continue after @count of a dictionary`() {
      var value: Any? = 1
      #expect(codes { value = ["a": 1].value(forKeyPath: "@count.x") } == [36])
      #expect(value == nil)
    }

    @Test func `385: An operand that cannot be added is a fault`() {
      t.children = [T()]
      t.children[0].s = "a"
      for path in ["children.@sum.s", "children.@avg.s"] {
        var value: Any? = 1
        #expect(codes { value = t.value(forKeyPath: path) } == [26], "\(path)")
        #expect(value == nil, "\(path)")
      }
    }

    @Test func `156, 254, 255, 390: Operators at the end of a path are observed, and notify of changes of elements`() {
      t.children = [T(v: 1), T(v: 2)]
      t.add(w, "children.@count")
      t.children.append(T(v: 3))
      t.remove(w, "children.@count")
      #expect(w.take() == ["2>3"])
      t.add(w, "children.@sum.v")
      t.children[0].v = 5
      t.children.removeLast()
      #expect(w.take() == ["6>10", "10>7"])
      t.remove(w, "children.@sum.v")
    }

    @Test func `188: A declared dependency through a collection depends on the collection and on its elements`() {
      let declaring = Declaring()
      declaring.add(w, "total")
      declaring.items[0].v = 5
      declaring.items.append(T())
      #expect(w.lines == ["0>0", "0>0"])
      declaring.remove(w, "total")
    }

    @Test func `155, 251, 252, 271: A path through a collection is a fault, and nothing stays registered`() {
      #expect(
        sentences { t.add(w, "children.v", []) } == [
          "NSInvalidArgumentException [<Array<T> 0xPTR> addObserver:forKeyPath:options:context:] is not supported. Key path: v"
        ])
      #expect(t.observationInfo == nil)
    }
  }
#endif
