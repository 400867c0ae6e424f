// Dictionaries, alone and on a key path.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Dictionaries")
  struct DictionaryTests {
    @Test func `A key is that of an entry, and @count is the number of entries`() {
      let numbers: [String: Int?] = ["a": 1, "b": nil]
      #expect(numbers.value(forKey: "a") as? Int == 1)
      #expect(numbers.value(forKey: "b") == nil && numbers.value(forKey: "c") == nil)
      #expect(numbers.value(forKey: "@count") as? Int == 2)
      #expect(["": 5].value(forKey: "") as? Int == 5)
    }

    @Test func `Another key that begins with @ is undefined, and an operator with a path KVO0036`() {
      let undefined = refused { ["@a": 1].value(forKey: "@a") }
      #expect(undefined.map(\.exception) == ["NSUnknownKeyException"])
      #expect(
        undefined.first?.sentence
          == "[<Dictionary<String, Int> 0x> valueForUndefinedKey:]: this class is not key value coding-compliant for the "
          + "key a.")
      let raised = refused { ["a": 1].value(forKeyPath: "@count.a") }
      #expect(raised.map(\.code) == [36])
      #expect(
        raised.first?.sentence
          == "[<Dictionary<String, Int> 0x> valueForKeyPath:]: this class does not implement the count operation.")
    }

    @Test func `A path goes through dictionaries, and an entry whose key has dots has precedence`() {
      let nested: [String: Any] = ["a": ["b": 1], "c.d": 2, "c": ["d": 3], "list": [["n": 1], ["n": 2]]]
      #expect(nested.value(forKeyPath: "a.b") as? Int == 1)
      #expect(nested.value(forKeyPath: "a.x.y") == nil)
      #expect(nested.value(forKeyPath: "c.d") as? Int == 2)
      #expect(nested.value(forKeyPath: "list.@sum.n") as? Int == 3)
      #expect(refused { nested.value(forKeyPath: "a.b.c") }.map(\.code) == [9])
    }

    @Test func `A set adds, converts, or with nil removes an entry`() {
      var numbers = ["a": 1]
      numbers.setValue(2.0, forKey: "b")
      numbers.setValue(nil, forKey: "a")
      #expect(numbers == ["b": 2])
      #expect(faults { numbers.setValue("x", forKey: "b") }.map(\.code) == [26])
      #expect(numbers == ["b": 2])
    }

    @Test func `A set of a path changes the inner dictionary`() {
      var nested: [String: Any] = ["a": ["b": 1], "list": [["n": 1], ["n": 2]]]
      nested.setValue(5, forKeyPath: "a.b")
      nested.setValue(6, forKeyPath: "x.y")
      nested.setValue(7, forKeyPath: "list.n")
      #expect(nested.value(forKeyPath: "a.b") as? Int == 5)
      #expect(nested["x"] == nil)
      #expect(nested.value(forKeyPath: "list.n") as? [Int] == [7, 7])
    }

    @Test func `A dictionary that is a property is changed and set again, which notifies once`() {
      let company = Company()
      company.info = ["size": 1]
      var inner: [String] = []
      let outer = company.changes(of: "info.size") {
        inner = company.changes(of: "info") { company.setValue(2, forKeyPath: "info.size") }
      }
      #expect(outer == ["info.size 1>2"])
      #expect(inner == [#"info ["size": 1]>["size": 2]"#])
    }

    @Test func `Foundation's dictionaries work too, but only the mutable ones can be set`() {
      let company = Company()
      let mutable = NSMutableDictionary(dictionary: ["a": 1])
      company.info = ["fixed": NSDictionary(dictionary: ["a": 1]), "mutable": mutable]
      #expect(company.value(forKeyPath: "info.fixed.a") as? Int == 1)
      #expect(company.value(forKeyPath: "info.mutable.@count") as? Int == 1)
      company.setValue(2, forKeyPath: "info.mutable.a")
      #expect(mutable["a"] as? Int == 2)
      company.setValue(nil, forKeyPath: "info.mutable.a")
      #expect(mutable.count == 0)
      let raised = faults { company.setValue(2, forKeyPath: "info.fixed.a") }
      #expect(raised.map(\.exception) == ["NSUnknownKeyException"])
    }

    @Test func `Elements of a plain array that are values cannot be set`() {
      let list = [["n": 1]]
      #expect(faults { list.setValue(2, forKey: "n") }.map(\.code) == [9])
      #expect(faults { [1, 2].setValue(2, forKey: "n") }.map(\.code) == [9])
    }
  }
#endif
