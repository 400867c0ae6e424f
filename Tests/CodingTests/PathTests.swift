// Key paths as texts: which characters separate, and how long a path may be.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Key paths as texts")
  struct PathTests {
    @Test func `A key may contain dots, zeros and at signs, and a path zeros`() {
      var dictionary: [String: Any] = ["a.b": 1, "a\0b": 2, "a": ["b": 3, "c\0": 4], "@x.@y": 5]
      #expect(dictionary.value(forKey: "a.b") as? Int == 1)
      #expect(dictionary.value(forKey: "a\0b") as? Int == 2)
      #expect(dictionary.value(forKeyPath: "a\0b") as? Int == 2)
      #expect(dictionary.value(forKeyPath: "a.c\0") as? Int == 4)
      #expect([dictionary].value(forKey: "a.b") as? [Int] == [1])
      #expect(["\0": 8].value(forKey: "\0") as? Int == 8)
      dictionary.setValue(6, forKey: "a.b")
      dictionary.setValue(7, forKey: "a\0b")
      #expect(dictionary["a.b"] as? Int == 6 && dictionary["a\0b"] as? Int == 7 && dictionary.count == 4)
    }

    @Test func `A dot with a combining mark is part of a key`() {
      let dictionary: [String: Any] = ["a.\u{301}b": 1, "a": ["b": 2]]
      #expect(dictionary.value(forKeyPath: "a.\u{301}b") as? Int == 1)
      #expect([["@\u{301}count": 3]].value(forKeyPath: "@\u{301}count") as? [Int] == [3])
    }

    @Test func `A fault names the key as it was written`() {
      let raised = refused { [1].value(forKey: "x.y") }
      #expect(raised.first?.sentence?.hasSuffix("for the key x.y.") == true)
    }

    @Test func `A path of many components needs no more stack`() {
      let company = Company()
      let path = String(repeating: "self.", count: 50_000)
      #expect(company.value(forKeyPath: path + "people.@count") as? Int == 0)
    }

    @Test func `An override of setValue(_:forKey:) gets the value as it was given`() {
      let keeper = Keeper()
      keeper.setValue(Int?.some(5) as Any, forKeyPath: "kept")
      #expect(keeper.given.map { type(of: $0) == Int?.self } == true)
      keeper.setValuesForKeys(["kept": NSNull()])
      #expect(keeper.given == nil)
    }

    @Test func `A sum of numbers that no decimal can hold is exact, too`() {
      #expect([1e200, 0.1, 0.2, -1e200].value(forKeyPath: "@sum.self") as? Double == 0.3)
    }

    @Test func `Numbers of different types are compared by their decimal notation`() {
      let numbers: [Any] = [0.1, Decimal(string: "0.10000000000000000001") ?? 0, Decimal(string: "0.1") ?? 0]
      #expect(numbers.value(forKeyPath: "@max.self") as? Decimal == Decimal(string: "0.10000000000000000001"))
      #expect(numbers.value(forKeyPath: "@min.self") as? Double == 0.1)
    }

    @Test func `A path goes through structures and tuples, whose stored properties can be read and observed, not set`()
    {
      let record = Record()
      #expect(record.value(forKeyPath: "point.x") as? Int == 0)
      #expect(record.value(forKeyPath: "range.upperBound") as? Int == 1)
      #expect(record.changes(of: "range.upperBound") { record.range = 0..<5 } == ["range.upperBound 1>5"])
      let set = faults { record.setValue(3, forKeyPath: "point.x") }
      #expect(set.map(\.code) == [9] && record.point.x == 0)
      #expect(set.first?.help == "set the whole (x: Int, y: Int): a part of it has no setter by key")
      #expect(refused { record.value(forKeyPath: "range.length") }.map(\.code) == [9])
      let misspelt = refused { record.value(forKeyPath: "point.xy") }
      #expect(misspelt.first?.help == "did you mean \"x\"? the keys of (x: Int, y: Int) are: x, y")
      record.any = (person: Person("Ann"), counts: ["a": 1])
      record.setValue("Bob", forKeyPath: "any.person.name")
      #expect(record.value(forKeyPath: "any.person.name") as? String == "Bob")
      #expect(faults { record.setValue(2, forKeyPath: "any.counts.a") }.map(\.code) == [9])
    }

    @Test func `A set by path in an array of dictionaries keeps the elements that are nil`() {
      let shelf = Shelf()
      shelf.setValue(2, forKeyPath: "books.pages")
      #expect(shelf.books == [["pages": 2], nil, ["pages": 2]])
    }
  }

  @KeyValueObservable
  final class Shelf {
    var books: [[String: Int]?] = [["pages": 1], nil, [:]]
  }

  @KeyValueObservable
  final class Keeper {
    var kept: Int?
    @NotObserved var given: Any?
    func setValue(_ value: Any?, forKey key: String) { given = value }
  }
#endif
