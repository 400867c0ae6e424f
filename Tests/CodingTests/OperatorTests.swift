// Collections on a key path, and their operators.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Collections and their operators")
  struct OperatorTests {
    private let company = Company()

    init() {
      company.people = [Person("Ann", age: 30), Person("Bob", age: 20), Person("Cid", age: 20)]
      company.people[0].friend = company.people[1]
    }

    @Test func `The value of a key of an array is the array of its elements' values, with NSNull for nil`() {
      #expect(company.value(forKeyPath: "people.name") as? [String] == ["Ann", "Bob", "Cid"])
      let friends = company.value(forKeyPath: "people.friend") as? [Any]
      #expect(friends?.count == 3 && friends?[0] as? Person === company.people[1] && friends?[1] is NSNull)
      #expect(company.people.value(forKey: "age") as? [Int] == [30, 20, 20])
    }

    @Test func `A nil in the middle of an array's path is NSNull for that element`() {
      let names = company.value(forKeyPath: "people.friend.name") as? [Any]
      #expect(names?.count == 3 && names?[0] as? String == "Bob" && names?[2] is NSNull)
    }

    @Test func `The value of a key of a set is the set of its elements' values, without nil`() {
      let set: Set = [Leaf(1), Leaf(1), Leaf(2), Leaf(nil)]
      #expect(set.value(forKey: "value") as? Set<AnyHashable> == [1, 2])
      #expect(set.value(forKeyPath: "value.@count") as? Int == 2)
    }

    @Test func `@count is the number of elements, and ignores the rest of the path`() {
      #expect(company.value(forKeyPath: "people.@count") as? Int == 3)
      #expect(company.value(forKeyPath: "people.@count.nothing") as? Int == 3)
      #expect(company.people.value(forKey: "@count") as? Int == 3)
      #expect(company.value(forKeyPath: "team.@count") == nil)
    }

    @Test func `@sum adds numbers as decimals, and ignores nil`() {
      #expect(company.value(forKeyPath: "people.@sum.age") as? Int == 70)
      #expect([0.1, 0.2].value(forKeyPath: "@sum.self") as? Double == 0.3)
      #expect([Leaf(1), Leaf(nil), Leaf(2)].value(forKeyPath: "@sum.value") as? Int == 3)
      #expect([Int]().value(forKeyPath: "@sum.self") as? Int == 0)
      #expect(([1, 2.5, Decimal(3), true] as [Any]).value(forKeyPath: "@sum.self") as? Decimal == 7.5)
      let mixed = [1, 2.5].value(forKeyPath: "@sum.self")
      #expect(mixed as? NSNumber == 3.5 && mixed as? Int == nil)
    }

    @Test func `A sum is exact to the last decimal`() {
      #expect(Array(repeating: 0.1, count: 1000).value(forKeyPath: "@sum.self") as? Int == 100)
      #expect([1e15, 0.25, -1e15].value(forKeyPath: "@sum.self") as? Double == 0.25)
      #expect(
        [0.1234567890123456, 1].value(forKeyPath: "@sum.self") as? Decimal == Decimal(string: "1.1234567890123456"))
      #expect([Int.max, Int.max].value(forKeyPath: "@sum.self") as? Decimal == Decimal(Int.max) * 2)
      #expect([-0.5, -0.25].value(forKeyPath: "@sum.self") as? Double == -0.75)
      #expect(
        ["0.1", "2e-20", "1e18"].value(forKeyPath: "@sum.self") as? Decimal
          == Decimal(string: "1000000000000000000.10000000000000000002"))
      #expect([1e40, 1e40, 1].value(forKeyPath: "@avg.self") as? Decimal != nil)
      #expect([UInt64.max, 1].value(forKeyPath: "@sum.self") as? Decimal == Decimal(UInt64.max) + 1)
    }

    @Test func `A sum that no decimal can represent is computed in binary`() {
      #expect([1e200, 1e200].value(forKeyPath: "@sum.self") as? Double == 2e200)
      #expect(([1, Double.infinity]).value(forKeyPath: "@sum.self") as? Double == .infinity)
    }

    @Test func `@avg divides by the number of all elements, and is nil for an empty collection`() {
      #expect([Leaf(1), Leaf(nil), Leaf(5)].value(forKeyPath: "@avg.value") as? Int == 2)
      #expect([1, 2].value(forKeyPath: "@avg.self") as? Double == 1.5)
      #expect([Int]().value(forKeyPath: "@avg.self") == nil)
    }

    @Test func `@min and @max return an element's value, ignore nil, and compare numbers of any type`() {
      #expect(company.value(forKeyPath: "people.@min.age") as? Int == 20)
      #expect(company.value(forKeyPath: "people.@max.name") as? String == "Cid")
      #expect([Leaf(nil), Leaf(4), Leaf(2)].value(forKeyPath: "@max.value") as? Int == 4)
      #expect([Int]().value(forKeyPath: "@min.self") == nil)
      let numbers: [Any] = [2, 1.5, Decimal(string: "1.25") ?? 0, UInt8(3), NSNumber(value: 2.75)]
      #expect(numbers.value(forKeyPath: "@min.self") as? Decimal == Decimal(string: "1.25"))
      #expect(numbers.value(forKeyPath: "@max.self") as? UInt8 == 3)
      let large: [Any] = [Double(1 << 53), (1 << 53) + 1]
      #expect(large.value(forKeyPath: "@max.self") as? Int == (1 << 53) + 1)
      let dates = [Date(timeIntervalSince1970: 2), Date(timeIntervalSince1970: 1)]
      #expect(dates.value(forKeyPath: "@min.self") as? Date == dates[1])
    }

    @Test func `@unionOfObjects keeps order and duplicates, @distinctUnionOfObjects removes duplicates`() {
      #expect(company.value(forKeyPath: "people.@unionOfObjects.age") as? [Int] == [30, 20, 20])
      #expect(company.value(forKeyPath: "people.@distinctUnionOfObjects.age") as? [Int] == [30, 20])
      #expect((company.value(forKeyPath: "people.@unionOfObjects.friend") as? [Person])?.count == 1)
      let shared = [Leaf(1), Leaf(2)].map(Branch.init) + [Branch(nil)]
      let objects = (shared + shared).value(forKeyPath: "@distinctUnionOfObjects.leaf") as? [Leaf]
      #expect(objects?.map(\.value) == [1, 2])
    }

    @Test func `@unionOfArrays and its distinct form concatenate the inner arrays' values`() {
      company.shelves = [company.people, [company.people[0]]]
      #expect(company.value(forKeyPath: "shelves.@unionOfArrays.age") as? [Int] == [30, 20, 20, 30])
      #expect(company.value(forKeyPath: "shelves.@distinctUnionOfArrays.age") as? [Int] == [30, 20])
    }

    @Test func `The path of a nested union is that of each element, be it an array or an object with an array`() {
      let (first, second) = (Company(), Company())
      (first.things, second.things) = ([1, 2], [2, 3])
      let (ann, bob) = (Person("Ann"), Person("Bob"))
      (first.people, second.people) = ([ann, bob], [bob])
      let companies = [first, second]
      func names(_ path: String) -> [String]? { (companies.value(forKeyPath: path) as? [Person])?.map(\.name) }
      #expect(names("@unionOfArrays.people") == ["Ann", "Bob", "Bob"])
      #expect(names("@distinctUnionOfArrays.people") == ["Ann", "Bob"])
      #expect(companies.value(forKeyPath: "@unionOfArrays.people.name") as? [String] == ["Ann", "Bob", "Bob"])
      #expect(companies.value(forKeyPath: "@distinctUnionOfSets.things") as? Set<AnyHashable> == [1, 2, 3])
      #expect((companies.value(forKeyPath: "@unionOfArrays.team") as? [Any])?.isEmpty == true)  // nil has no elements
      second.team = [ann]
      #expect(names("@unionOfArrays.team") == ["Ann"])
    }

    @Test func `@distinctUnionOfSets unites the inner sets' values`() {
      let sets: Set<Set<Int>> = [[1, 2], [2, 3]]
      #expect(sets.value(forKeyPath: "@distinctUnionOfSets.self") as? Set<AnyHashable> == [1, 2, 3])
    }

    @Test func `Operators may be chained, each applied to the rest of the path`() {
      company.shelves = [company.people, [company.people[0]]]
      #expect(company.value(forKeyPath: "shelves.@max.@sum.age") as? Int == 70)
      #expect(company.value(forKeyPath: "shelves.@sum.@count") as? Int == 4)
      let companies = [company, Company()]
      #expect(companies.value(forKeyPath: "@sum.people.@count") as? Int == 3)
    }

    @Test func `An unknown operator is fault KVO0036 with Apple's sentence`() {
      var value: Any? = 1
      let raised = faults { value = company.value(forKeyPath: "people.@median.age") }
      #expect(value == nil && raised.map(\.code) == [36])
      #expect(raised.first?.exception == "NSInvalidArgumentException")
      #expect(
        raised.first?.sentence
          == "[<Array<Person> 0x> valueForKeyPath:]: this class does not implement the median operation.")
    }

    @Test func `An operator on an object that is not a collection is fault KVO0036`() {
      #expect(faults { _ = company.value(forKeyPath: "@sum.people") }.map(\.code) == [36])
      #expect(refused { company.value(forKeyPath: "@count") }.map(\.code) == [36])
    }

    @Test func `An operator on a value that is not a collection is fault KVO0036, which names it as it is written`() {
      let ann = company.people[0]
      let operated = refused { ann.value(forKeyPath: "age.@sum.self") }
      #expect(operated.map(\.code) == [36])
      #expect(
        operated.map(\.summary) == ["a value of type Int has no collection operator @sum: it is no collection"])
      #expect(refused { ann.value(forKeyPath: "name.@count") }.map(\.code) == [36])
      let watcher = Watcher()
      let raised = faults { ann.addObserver(watcher, forKeyPath: "name.@count") }
      #expect(raised.map(\.code) == [36])
      #expect(
        raised.map(\.summary) == [
          #"cannot observe "name.@count": a value of type String has no collection operator @count: it is no collection"#
        ])
      #expect(ann.observationInfo == nil)
    }

    @Test func `A misspelt operator is fault KVO0036, also at the end of a path`() {
      let raised = refused { company.value(forKeyPath: "people.name.@cuont") }
      #expect(raised.map(\.code) == [36])
      #expect(raised.map(\.summary) == ["a value of type Array<Any> has no collection operator @cuont"])
      let watcher = Watcher()
      #expect(faults { company.addObserver(watcher, forKeyPath: "people.@cuont") }.map(\.code) == [36])
    }

    @Test func `An operator without the path it needs is an undefined key`() {
      for name in ["sum", "avg", "min", "max", "unionOfObjects", "unionOfArrays", "distinctUnionOfSets"] {
        let raised = refused { company.value(forKeyPath: "people.@\(name)") }
        #expect(raised.map(\.exception) == ["NSUnknownKeyException"], "\(name)")
        #expect(
          raised.map(\.summary) == [#"cannot get "@\#(name)" of a value of type Array<Person>: there is no such key"#])
      }
    }

    @Test func `Unions that keep duplicates are not defined for sets`() {
      let set: Set = [1, 2]
      for name in ["unionOfObjects", "unionOfArrays"] {
        #expect(faults { _ = set.value(forKeyPath: "@\(name).self") }.map(\.code) == [36], "\(name)")
      }
      #expect(set.value(forKeyPath: "@distinctUnionOfObjects.self") as? Set<AnyHashable> == [1, 2])
    }

    @Test func `A union of arrays over an element that is not an array is fault KVO0036`() {
      let raised = refused { company.value(forKeyPath: "people.@unionOfArrays.age") }
      #expect(raised.map(\.code) == [36])
      #expect(raised.first?.exception == "NSInvalidArgumentException")
    }

    @Test func `An operand that cannot be added or compared is fault KVO0026`() {
      #expect(refused { company.value(forKeyPath: "people.@sum.name") }.map(\.code) == [26])
      #expect(refused { company.value(forKeyPath: "people.@avg.self") }.map(\.code) == [26])
      let mixed: [Any] = ["a", 1]
      #expect(refused { mixed.value(forKeyPath: "@max.self") }.map(\.code) == [26])
    }

    @Test func `The evaluation of a key path ends at the first fault`() {
      #expect(refused { company.value(forKeyPath: "people.nothing") }.count == 1)
      #expect(refused { company.value(forKeyPath: "people.@sum.nothing") }.count == 1)
    }

    @Test func `Operators after a nested path notify of replacements, mutations and changes of elements`() {
      let ann = company.people[0]
      #expect(company.changes(of: "people.@count") { company.people.removeLast() } == ["people.@count 3>2"])
      let sums = company.changes(of: "people.@sum.age") {
        ann.age = 31
        company.people.append(Person("Dan", age: 9))
        company.people = [ann]
      }
      #expect(sums == ["people.@sum.age 50>51", "people.@sum.age 51>60", "people.@sum.age 60>31"])
      #expect(company.changes(of: "people.@max.age") { ann.age = 1 } == ["people.@max.age 31>1"])
    }

    @Test func `A path that goes through a collection without an operator cannot be observed: fault KVO0018`() {
      let watcher = Watcher()
      let raised = faults { company.addObserver(watcher, forKeyPath: "people.name") }
      #expect(raised.map(\.code) == [18] && raised.first?.exception == "NSInvalidArgumentException")
      #expect(
        raised.first?.sentence
          == "[<Array<Person> 0x> addObserver:forKeyPath:options:context:] is not supported. Key path: name")
      #expect(company.observationInfo == nil)
    }

    @Test func `A set by key of an array or a set sets the value of every element`() {
      company.setValue(5, forKeyPath: "people.age")
      #expect(company.people.map(\.age) == [5, 5, 5])
      company.people.setValue(6, forKey: "age")
      #expect(company.people.map(\.age) == [6, 6, 6])
      let leaves: Set = [Leaf(1), Leaf(2)]
      leaves.setValue(7, forKey: "value")
      #expect(leaves.allSatisfy { $0.value == 7 })
      leaves.setValue(10, forKeyPath: "value")
      #expect(leaves.allSatisfy { $0.value == 10 })
      ContiguousArray(company.people).setValue(8, forKeyPath: "age")
      #expect(ContiguousArray(company.people).value(forKey: "age") as? [Int] == [8, 8, 8])
      ContiguousArray(company.people).setValue(11, forKey: "age")
      #expect(company.people.map(\.age) == [11, 11, 11])
      company.people.setValue(12, forKeyPath: "age")
      #expect(company.people.map(\.age) == [12, 12, 12])
      #expect(company.changes(of: "people") { company.setValue(9, forKeyPath: "people.age") }.isEmpty)
    }
  }

  @KeyValueObservable
  final class Leaf: Hashable {
    var value: Int?
    init(_ value: Int?) { self.value = value }
    static func == (left: Leaf, right: Leaf) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @KeyValueObservable
  final class Branch {
    var leaf: Leaf?
    init(_ leaf: Leaf?) { self.leaf = leaf }
  }
#endif
