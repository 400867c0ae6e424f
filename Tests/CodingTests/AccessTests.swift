// Reading and setting by keys and key paths: properties, dictionaries, structures and tuples.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class KeyReader {
    var person = Person("Ann")
    var greeting: String { "Hello \(value(forKeyPath: "person.name") ?? "")" }
  }

  @KeyValueObservable
  private final class Shelf {
    var books: [[String: Int]?] = [["pages": 1], nil, [:]]
  }

  @Suite("Reading and setting by key")
  struct AccessTests {
    private let record = Record()
    private let company = Company()

    @Test func `The value of a key is the plain Swift value of the property`() {
      #expect(record.value(forKey: "int") as? Int == 1)
      #expect(record.value(forKey: "grade") as? Grade == .low)
      #expect(record.value(forKey: "range") as? Range<Int> == 0..<1)
      #expect((record.value(forKey: "point") as? (x: Int, y: Int))?.x == 0)
      #expect((record.value(forKey: "action") as? () -> String)?() == "none")
      #expect(record.value(forKey: "half") as? Double == 0.5)
    }

    @Test func `Optionals are removed at every level, and nil is nil`() {
      #expect(record.value(forKey: "number") == nil)
      record.nested = .some(.some(6))
      #expect(record.value(forKey: "nested").map { type(of: $0) == Int.self } == true)
      record.nested = .some(.none)
      #expect(record.value(forKey: "nested") == nil)
    }

    @Test func `The key self returns the object, and a path of any length is read without recursion`() {
      #expect(record.value(forKey: "self") as? Record === record)
      let path = String(repeating: "self.", count: 50_000)
      #expect(company.value(forKeyPath: path + "people.@count") as? Int == 0)
    }

    @Test func `A set goes through the setter, and observers of the property and of a path to it are notified once`() {
      let (ann, bob) = (Person("Ann"), Person("Bob"))
      ann.friend = bob
      var inner: [String] = []
      let outer = ann.changes(of: "friend.name") {
        inner = bob.changes(of: "name") { ann.setValue("Rob", forKeyPath: "friend.name") }
      }
      #expect(outer == ["friend.name Bob>Rob"] && inner == ["name Bob>Rob"])
      #expect(record.changes(of: "weakPerson.name") { record.setValue(ann, forKey: "weakPerson") }.count == 1)
    }

    @Test func `A set of a computed property notifies of the properties that its setter sets`() {
      #expect(record.changes(of: "doubled") { record.setValue(10, forKey: "doubled") } == ["doubled 2>10"])
      #expect(record.int == 5)
    }

    @Test func `A set of a constant is a fault that says what to do`() {
      let raised = faults { record.setValue(1, forKey: "constant") }
      #expect(raised.map(\.help) == ["give the property a setter, or set what it is computed from"])
    }

    @Test(arguments: ["", "person.", ".person", "person..name"])
    func `An empty component is an undefined key of an object`(path: String) {
      record.person = Person("Ann")
      #expect(faults { _ = record.value(forKeyPath: path) }.map(\.code) == [9])
    }

    @Test func `Plain values on a path have no keys, and the fault names their type`() {
      let raised = refused { record.value(forKeyPath: "int.name") }
      #expect(raised.map(\.summary) == [#"cannot get "name" of a value of type Int: there is no such key"#])
    }

    @Test func `Values can be written as raw values, which setValuesForKeys accepts`() throws {
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

    @Test func `setValuesForKeys sets in the order of the names, up to the first fault`() {
      let person = Person("Ann")
      let raised = faults { person.setValuesForKeys(["name": "Bob", "age": 5, "height": 1]) }
      #expect(raised.map(\.code) == [9] && person.age == 5 && person.name == "Ann")
    }

    @Test func `A computed property that reads values by key is observed through these reads`() {
      let reader = KeyReader()
      #expect(reader.changes(of: "greeting") { reader.person.name = "Bob" } == ["greeting Hello Ann>Hello Bob"])
    }

    @Test func `Announced elements of a computed property are delivered at the end of a path`() {
      let changes = company.changes(of: "basket.shown") {
        company.basket.willChange(.insertion, valuesAt: [0], forKey: "shown")
        company.basket.didChange(.insertion, valuesAt: [0], forKey: "shown")
      }
      #expect(changes == [#"basket.shown ->["fig"]"#])
    }

    @Test func `A read through an array keeps none of its elements, whatever the array's type`() {
      weak var first: Person?
      weak var second: Person?
      let read: [Any?]
      do {
        let (ann, bob) = (Person("Ann"), Person("Bob"))
        (first, second) = (ann, bob)
        let people: [Person] = [ann]
        let anything: [Any] = [bob]
        read = [people.value(forKey: "name"), anything.value(forKeyPath: "@unionOfObjects.name")]
      }
      #expect(read[0] as? [String] == ["Ann"] && read[1] as? [String] == ["Bob"])
      #expect(first == nil && second == nil)
    }

    @Test func `A path goes through structures and tuples, whose stored properties can be read and observed, not set`()
    {
      #expect(record.value(forKeyPath: "point.x") as? Int == 0)
      #expect(record.changes(of: "range.upperBound") { record.range = 0..<5 } == ["range.upperBound 1>5"])
      let set = faults { record.setValue(3, forKeyPath: "point.x") }
      #expect(set.map(\.code) == [9] && record.point.x == 0)
      #expect(set.first?.help == "set the whole (x: Int, y: Int): a part of it has no setter by key")
      let misspelt = refused { record.value(forKeyPath: "point.xy") }
      #expect(misspelt.first?.help == "did you mean \"x\"? the keys of (x: Int, y: Int) are: x, y")
      record.any = (person: Person("Ann"), counts: ["a": 1])
      record.setValue("Bob", forKeyPath: "any.person.name")
      #expect(record.value(forKeyPath: "any.person.name") as? String == "Bob")
      #expect(faults { record.setValue(2, forKeyPath: "any.counts.a") }.map(\.code) == [9])
    }
  }

  @Suite("Dictionaries")
  struct DictionaryTests {
    private let company = Company()

    @Test func `A path goes through dictionaries and their lists, and ends at what is no dictionary`() {
      let nested: [String: Any] = ["a": ["b": 1], "list": [["n": 1], ["n": 2]]]
      #expect(nested.value(forKeyPath: "a.b") as? Int == 1)
      #expect(nested.value(forKeyPath: "a.x.y") == nil)
      #expect(nested.value(forKeyPath: "list.@sum.n") as? Int == 3)
      #expect(refused { nested.value(forKeyPath: "a.b.c") }.map(\.code) == [9])
    }

    @Test func `A key may contain dots, zeros and at signs, and a path zeros`() {
      var dictionary: [String: Any] = ["a.b": 1, "a\0b": 2, "a": ["b": 3, "c\0": 4], "@x.@y": 5, "a.\u{301}b": 8]
      #expect(dictionary.value(forKey: "a.b") as? Int == 1)
      #expect(dictionary.value(forKeyPath: "a\0b") as? Int == 2)
      #expect(dictionary.value(forKeyPath: "a.c\0") as? Int == 4)
      #expect(dictionary.value(forKeyPath: "a.\u{301}b") as? Int == 8)  // the dot is part of a character
      let record = Record()
      record.counts = ["a.\u{301}b": 8, "a": 9]
      #expect(record.value(forKeyPath: "counts.a.\u{301}b") as? Int == 8)
      dictionary.setValue(6, forKey: "a.b")
      dictionary.setValue(7, forKey: "a\0b")
      #expect(dictionary["a.b"] as? Int == 6 && dictionary["a\0b"] as? Int == 7 && dictionary.count == 5)
    }

    @Test func `A key that begins with @ is undefined, and an operator with a path is KVO0036`() {
      let undefined = refused { ["@a": 1].value(forKey: "@a") }
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

    @Test func `A set of a path changes the inner dictionary, with values of the entry's type only`() {
      var nested: [String: Any] = ["a": ["b": 1], "list": [["n": 1], ["n": 2]]]
      nested.setValue(5, forKeyPath: "a.b")
      nested.setValue(6, forKeyPath: "x.y")
      nested.setValue(7, forKeyPath: "list.n")
      #expect(nested.value(forKeyPath: "a.b") as? Int == 5)
      #expect(nested["x"] == nil)
      #expect(nested.value(forKeyPath: "list.n") as? [Int] == [7, 7])
      var numbers = ["a": 1]
      numbers.setValue(2.0, forKey: "b")
      #expect(faults { numbers.setValue("x", forKey: "b") }.map(\.code) == [26])
      #expect(numbers == ["a": 1, "b": 2])
    }

    @Test func `A dictionary that is a property is changed and set again, which notifies once`() {
      company.info = ["size": 1]
      var inner: [String] = []
      let outer = company.changes(of: "info.size") {
        inner = company.changes(of: "info") { company.setValue(2, forKeyPath: "info.size") }
      }
      #expect(outer == ["info.size 1>2"])
      #expect(inner == [#"info ["size": 1]>["size": 2]"#])
    }

    @Test func `A set by path in an array of dictionaries keeps the elements that are nil`() {
      let shelf = Shelf()
      shelf.setValue(2, forKeyPath: "books.pages")
      #expect(shelf.books == [["pages": 2], nil, ["pages": 2]])
    }

    @Test func `Entries of Foundation's dictionaries are read by key, and set in the mutable ones only`() {
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
      #expect(faults { [["n": 1]].setValue(2, forKey: "n") }.map(\.code) == [9])
      #expect(faults { [1, 2].setValue(2, forKey: "n") }.map(\.code) == [9])
    }
  }
#endif
