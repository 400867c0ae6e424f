// Section V of Documentation/AppleCompatibility.md: values read by key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("V. Key-value coding: reading")
  struct SectionV {
    let c = Coded()

    @Test func `332, 334: The search order of a key is the property of its name, is<Key>, _<key>`() {
      #expect(c.value(forKey: "int") as? Int == 1)
      #expect(c.value(forKey: "open") as? Bool == true)
      #expect(c.value(forKey: "isOpen") as? Bool == true)
      #expect(c.value(forKey: "hidden") as? Int == 3)
      #expect(codes { nilIs(Closed().value(forKey: "hidden")) } == [9])
      #expect(Closed().value(forKey: "_hidden") as? Int == 3)
    }

    @Test func `335: Any other key calls value(forUndefinedKey:), which a class may override`() {
      let lenient = Lenient()
      lenient.other["x"] = 5
      #expect(lenient.value(forKey: "x") as? Int == 5)
      #expect(codes { _ = c.value(forKey: "x") } == [9])
    }

    @Test func `336: <Key> is the key with its first letter capitalized and the rest unchanged`() {
      #expect(c.value(forKey: "URL") as? String == "u")
      let w = Watcher()
      c.add(w, "dependent", [])
      c.fooBar = 1
      #expect(w.lines == ["w ->-"])
      c.remove(w, "dependent")
    }

    @Test func `338, 339: Values of every type are returned unchanged`() {
      #expect(c.value(forKey: "double") as? Double == 0.5)
      #expect(c.value(forKey: "range") as? NSRange == NSRange(location: 1, length: 2))
      var number = 5
      withUnsafeMutablePointer(to: &number) { pointer in
        c.any = pointer
        #expect(c.value(forKey: "any") as? UnsafeMutablePointer<Int> == pointer)
      }
    }

    @Test func `342, 343: A path is evaluated; with nil on it, it reads as nil and sets nothing`() {
      #expect(c.value(forKeyPath: "child.child.int") == nil)
      #expect(codes { c.setValue(5, forKeyPath: "child.int") } == [])
      c.child = Coded(4)
      #expect(c.value(forKeyPath: "child.int") as? Int == 4)
    }

    @Test func `344: A set of a path sets the last object's property, which notifies`() {
      let (w, child) = (Watcher(), Coded(4))
      c.child = child
      child.add(w, "int")
      c.setValue(5, forKeyPath: "child.int")
      #expect(w.lines == ["w 4>5"])
      child.remove(w, "int")
    }

    @Test func `346, 347: Dictionaries of values contain NSNull for nil, in both directions`() {
      let values = c.dictionaryWithValues(forKeys: ["int", "text"])
      #expect(values["int"] as? Int == 1 && values["text"] is NSNull)
      c.text = "t"
      c.setValuesForKeys(["int": 9, "text": NSNull()])
      #expect(c.int == 9 && c.text == nil)
    }

    @Test func `157, 322, 348: NSNull has no keys`() {
      c.any = NSNull()
      let raised = faults { nilIs(c.value(forKeyPath: "any.int")) }
      #expect(raised.map(\.exceptionName) == ["NSUnknownKeyException"])
      let w = Watcher()
      #expect(faults { c.add(w, "any.int") }.map(\.exceptionName) == ["NSUnknownKeyException"])
      #expect(c.observationInfo == nil)
    }

    @Test func `349: Keys need not be ASCII`() {
      let dictionary = KeyValueDictionary()
      dictionary.setValue(1, forKey: "ключ")
      #expect(dictionary.value(forKey: "ключ") as? Int == 1)
    }

    @Test func `273: An undefined key`() {
      #expect(
        sentences { _ = c.value(forKey: "x") } == [
          "NSUnknownKeyException [<Coded 0xPTR> valueForUndefinedKey:]: this class is not key value coding-compliant for the "
            + "key x."
        ])
    }
  }
#endif
