// Values read by keys and key paths.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Reading by key")
  struct GetterTests {
    private let record = Record()

    @Test func `The value of a key is the plain Swift value of the property`() {
      #expect(record.value(forKey: "int") as? Int == 1)
      #expect(record.value(forKey: "string") as? String == "s")
      #expect(record.value(forKey: "grade") as? Grade == .low)
      #expect(record.value(forKey: "range") as? Range<Int> == 0..<1)
      #expect((record.value(forKey: "point") as? (x: Int, y: Int))?.x == 0)
      #expect((record.value(forKey: "action") as? () -> String)?() == "none")
      #expect(record.value(forKey: "half") as? Double == 0.5)
      #expect(record.value(forKey: "constant") as? Int == 7)
    }

    @Test func `Optionals are removed at every level, and nil is nil`() {
      #expect(record.value(forKey: "number") == nil)
      record.number = 5
      #expect(record.value(forKey: "number") as? Int == 5)
      record.nested = .some(.some(6))
      #expect(record.value(forKey: "nested").map { type(of: $0) == Int.self } == true)
      record.nested = .some(.none)
      #expect(record.value(forKey: "nested") == nil)
    }

    @Test func `A key may be in any script`() {
      record.setValue(3, forKey: "Lücke")
      #expect(record.value(forKey: "Lücke") as? Int == 3)
      #expect(record.changes(of: "Lücke") { record.setValue(4, forKey: "Lücke") } == ["Lücke 3>4"])
    }

    @Test func `The key self returns the object`() {
      #expect(record.value(forKey: "self") as? Record === record)
      #expect(record.value(forKeyPath: "self.int") as? Int == 1)
    }

    @Test func `A key path is evaluated object by object, and is nil if an object on it is nil`() {
      let ann = Person("Ann")
      #expect(ann.value(forKeyPath: "friend.friend.name") == nil)
      ann.friend = Person("Bob")
      #expect(ann.value(forKeyPath: "friend.name") as? String == "Bob")
      #expect(ann.value(forKeyPath: "friend.friend.name") == nil)
    }

    @Test func `dictionaryWithValues contains NSNull for nil`() {
      let values = record.dictionaryWithValues(forKeys: ["int", "text"])
      #expect(values.count == 2 && values["int"] as? Int == 1 && values["text"] is NSNull)
    }

    @Test func `dictionaryWithValues can give raw values, which setValuesForKeys takes back`() throws {
      (record.grade, record.maybeGrade, record.options) = (.high, .low, Options(rawValue: 3))
      (record.grades, record.tags) = (["a": [.low, .high]], ["t"])
      let keys = ["grade", "maybeGrade", "options", "grades", "tags", "text", "int"]
      let values = record.dictionaryWithValues(forKeys: keys, asRawValues: true)
      let json = try JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
      #expect(
        String(decoding: json, as: UTF8.self)
          == #"{"grade":2,"grades":{"a":[1,2]},"int":1,"maybeGrade":1,"options":3,"tags":["t"],"text":null}"#)
      let other = Record()
      var read = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
      read["tags"] = nil  // an array is no set
      other.setValuesForKeys(read)
      #expect(other.grade == .high && other.grades == record.grades && other.options == record.options)
    }

    @Test func `A key that the class does not have is fault KVO0009 with Apple's sentence`() {
      var value: Any? = 1
      let raised = faults { value = record.value(forKey: "nothing") }
      #expect(value == nil)
      #expect(raised.map(\.code) == [9])
      #expect(raised.first?.exception == "NSUnknownKeyException")
      #expect(
        raised.first?.sentence
          == "[<Record 0x> valueForUndefinedKey:]: this class is not key value coding-compliant for the key nothing.")
    }

    @Test func `An empty component is an undefined key of an object`() {
      for path in ["", "person.", ".person", "person..name"] {
        record.person = Person("Ann")
        #expect(faults { _ = record.value(forKeyPath: path) }.map(\.code) == [9], "\(path)")
      }
    }

    @Test func `NSNull and other values on a path have no keys, and the fault names their type`() {
      record.any = NSNull()
      let null = refused { record.value(forKeyPath: "any.name") }
      #expect(null.first?.summary.contains("NSNull") == true)
      #expect(null.first?.exception == "NSUnknownKeyException")
      let raised = refused { record.value(forKeyPath: "int.name") }
      #expect(raised.map(\.summary) == [#"cannot get "name" of a value of type Int: there is no such key"#])
    }

    @Test func `A computed property that reads values by key is observed through these reads`() {
      let reader = KeyReader()
      #expect(reader.changes(of: "greeting") { reader.person.name = "Bob" } == ["greeting Hello Ann>Hello Bob"])
    }
  }

  @KeyValueObservable
  private final class KeyReader {
    var person = Person("Ann")
    var greeting: String { "Hello \(value(forKeyPath: "person.name") ?? "")" }
  }
#endif
