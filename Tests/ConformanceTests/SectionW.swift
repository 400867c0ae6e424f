// Section W of Documentation/AppleCompatibility.md: values set by key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("W. Key-value coding: setting")
  struct SectionW {
    let c = Coded()
    let w = Watcher()

    /// Returns the changes that an observer of a key receives while a body runs.
    private func delivered(_ key: String, _ body: () -> Void) -> [String] {
      c.add(w, key)
      body()
      c.remove(w, key)
      return w.take()
    }

    @Test func `351: The search order for setting a key is the property of its name, is<Key>, _<key>`() {
      c.setValue(2, forKey: "int")
      c.setValue(false, forKey: "open")
      c.setValue(4, forKey: "hidden")
      #expect(c.int == 2 && !c.isOpen && c._hidden == 4)
    }

    @Test func `352: Numbers and numeric strings are converted if nothing is lost`() {
      c.setValue("5", forKey: "int")
      #expect(c.int == 5)
      c.setValue(6.0, forKey: "int")
      #expect(c.int == 6)
      c.setValue(NSNumber(value: 7), forKey: "double")
      #expect(c.double == 7)
      #expect(codes { c.setValue(1.5, forKey: "int") } == [26])
      #expect(codes { c.setValue("five", forKey: "int") } == [26])
      #expect(c.int == 6)
    }

    @Test
    func `353: A value that cannot be converted to the property's type is a fault, and nobody is notified`() throws {
      var raised: [KeyValueFault] = []
      let lines = delivered("int") { raised = faults { c.setValue(Coded(), forKey: "int") } }
      #expect(lines.isEmpty && c.int == 1)
      let fault = try #require(raised.first)
      #expect(fault.exceptionName == "NSInvalidArgumentException")
      #expect(fault.summary.contains("\"int\"") && fault.summary.contains("Int") && fault.summary.contains("Coded"))
    }

    @Test func `354: A structure is set unchanged`() {
      c.setValue(NSRange(location: 5, length: 6), forKey: "range")
      #expect(c.range == NSRange(location: 5, length: 6))
    }

    @Test func `275, 355, 356: Nil for a non-optional is a fault, nobody is notified, and later sets notify`() {
      var raised: [String] = []
      #expect(delivered("int") { raised = sentences { c.setValue(nil, forKey: "int") } }.isEmpty)
      #expect(
        raised == [
          "NSInvalidArgumentException [<Coded 0xPTR> setNilValueForKey]: could not set nil as the value for the key int."
        ])
      #expect(delivered("int") { c.int = 2 } == ["w 1>2"])
    }

    @Test func `357: setNilValueForKey may set another value, which notifies once`() {
      let lenient = Lenient()
      lenient.add(w, "age")
      lenient.setValue(nil, forKey: "age")
      #expect(w.lines == ["w 5>0"])
      lenient.remove(w, "age")
    }

    @Test func `358: Nil for an optional sets nil`() {
      c.text = "t"
      #expect(delivered("text") { c.setValue(nil, forKey: "text") } == ["w t>null"])
    }

    @Test func `359: The new value is retained and the old one released`() {
      weak var old: Coded?
      weak var new: Coded?
      do {
        let (first, second) = (Coded(), Coded())
        (old, new) = (first, second)
        c.setValue(first, forKey: "child")
        c.setValue(second, forKey: "child")
      }
      #expect(old == nil && new != nil)
    }

    @Test func `92, 360: A set of a property without automatic notification notifies`() {
      #expect(delivered("plain") { c.setValue(5, forKey: "plain") } == ["w 0>5"])
    }

    @Test func `93: A set by key of a property that notifies is one notification`() {
      #expect(delivered("int") { c.setValue(5, forKey: "int") } == ["w 1>5"])
    }

    @Test func `110: A set by key of a manual key notifies nobody`() {
      #expect(delivered("manual") { c.setValue(5, forKey: "manual") }.isEmpty)
      #expect(c.manual == 5)
    }

    @Test func `274, 361: A read-only property is an undefined key`() {
      let sentence = "NSUnknownKeyException [<Coded 0xPTR> setValue:forUndefinedKey:]: this class is not key value "
      for key in ["constant", "half", "nothing"] {
        #expect(
          sentences { c.setValue(1, forKey: key) } == [sentence + "coding-compliant for the key \(key)."], "\(key)")
      }
      let lenient = Lenient()
      lenient.setValue(1, forKey: "nothing")
      #expect(lenient.other["nothing"] as? Int == 1)
    }

    @Test func `362: validate<Key> is called by validateValue, not by a set`() throws {
      let lenient = Lenient()
      var value: Any? = "jane"
      try lenient.validateValue(&value, forKey: "name")
      #expect(value as? String == "Jane")
      value = ""
      #expect(throws: Lenient.Invalid.self) { try lenient.validateValue(&value, forKey: "name") }
      lenient.setValue("", forKey: "name")
      #expect(lenient.name == "")
      value = 5
      try lenient.validateValue(&value, forKey: "age")
      #expect(value as? Int == 5)
    }

    @Test func `363: validateValue(_:forKeyPath:) calls the object at the end of the path`() throws {
      c.any = Lenient()
      var value: Any? = "jane"
      try c.validateValue(&value, forKeyPath: "any.name")
      #expect(value as? String == "Jane")
      try c.validateValue(&value, forKeyPath: "child.name")
    }

    @Test func `92, 360: A set by another key of the property notifies too; that key can be observed and removed`() {
      var lines: [String] = []
      #expect(codes { lines = delivered("hidden") { c.setValue(5, forKey: "hidden") } } == [])
      #expect(lines == ["w 3>5"])
      #expect(codes { lines = delivered("open") { c.isOpen = false } } == [])
      #expect(lines == ["w true>false"])
    }
  }
#endif
