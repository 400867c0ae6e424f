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
      let names = company.value(forKeyPath: "people.friend.name") as? [Any]
      #expect(names?.count == 3 && names?[0] as? String == "Bob" && names?[2] is NSNull)
    }

    @Test func `@sum adds numbers as decimals, exactly to the last one, and ignores nil`() {
      func sum(_ numbers: [Any]) -> Any? { numbers.value(forKeyPath: "@sum.self") }
      let rows: [(numbers: [Any], sum: Decimal?)] = [
        ([], 0), ([1, 2.5, Decimal(3), true], 7.5), (Array(repeating: 0.1, count: 1000), 100),
        ([1e15, 0.25, -1e15], 0.25), ([-0.5, -0.25], -0.75),
        ([0.1234567890123456, 1], Decimal(string: "1.1234567890123456")), ([Int.max, Int.max], Decimal(Int.max) * 2),
        (["0.1", "2e-20", "1e18"], Decimal(string: "1000000000000000000.10000000000000000002")),
        ([UInt64.max, 1], Decimal(UInt64.max) + 1),
      ]
      for row in rows { #expect(sum(row.numbers) as? Decimal == row.sum, "\(row)") }
      #expect([0.1, 0.2].value(forKeyPath: "@sum.self") as? Double == 0.3)
      #expect(([1, nil, 3] as [Int?]).value(forKeyPath: "@sum.self") as? Int == 4)
      #expect(sum([1, 2.5]) as? NSNumber == 3.5 && sum([1, 2.5]) as? Int == nil)
      // No decimal can represent these numbers.
      #expect(sum([1e200, 0.1, 0.2, -1e200]) as? Double == 0.3)
      #expect(sum([1e200, 1e200]) as? Double == 2e200)
      #expect(sum([1.0, Double.infinity]) as? Double == .infinity)
      #if arch(x86_64)
        #expect(sum([Float80((1 << 53) + 1)]) as? Decimal == Decimal((1 << 53) + 1))
        #expect(sum([Float80.infinity, 1]) as? Double == .infinity)
      #endif
    }

    @Test func `@avg divides by the number of all elements, and is nil for an empty collection`() {
      #expect([Leaf(1), Leaf(nil), Leaf(5)].value(forKeyPath: "@avg.value") as? Int == 2)
      #expect([1, 2].value(forKeyPath: "@avg.self") as? Double == 1.5)
      #expect([Int]().value(forKeyPath: "@avg.self") == nil)
      #expect([1e40, 1e40, 1].value(forKeyPath: "@avg.self") as? Decimal != nil)
    }

    @Test func `@min and @max return an element's value, ignore nil, and compare numbers of any type`() {
      #expect(company.value(forKeyPath: "people.@max.name") as? String == "Cid")
      #expect([Leaf(nil), Leaf(4), Leaf(2)].value(forKeyPath: "@max.value") as? Int == 4)
      #expect([Int]().value(forKeyPath: "@min.self") == nil)
      let numbers: [Any] = [2, 1.5, Decimal(string: "1.25") ?? 0, UInt8(3), NSNumber(value: 2.75)]
      #expect(numbers.value(forKeyPath: "@min.self") as? Decimal == Decimal(string: "1.25"))
      #expect(numbers.value(forKeyPath: "@max.self") as? UInt8 == 3)
      let large: [Any] = [Double(1 << 53), (1 << 53) + 1]
      #expect(large.value(forKeyPath: "@max.self") as? Int == (1 << 53) + 1)
      let close: [Any] = [0.1, Decimal(string: "0.10000000000000000001") ?? 0, Decimal(string: "0.1") ?? 0]
      #expect(close.value(forKeyPath: "@max.self") as? Decimal == Decimal(string: "0.10000000000000000001"))
      #expect(close.value(forKeyPath: "@min.self") as? Double == 0.1)
      let letters: [Character] = ["b", "c", "a"]
      #expect(letters.value(forKeyPath: "@min.self") as? Character == "a")
      let dates = [Date(timeIntervalSince1970: 2), Date(timeIntervalSince1970: 1)]
      #expect(dates.value(forKeyPath: "@min.self") as? Date == dates[1])
    }

    @Test func `@unionOfObjects keeps order and duplicates, @distinctUnionOfObjects removes duplicates`() {
      #expect(company.value(forKeyPath: "people.@unionOfObjects.age") as? [Int] == [30, 20, 20])
      #expect(company.value(forKeyPath: "people.@distinctUnionOfObjects.age") as? [Int] == [30, 20])
      #expect((company.value(forKeyPath: "people.@unionOfObjects.friend") as? [Person])?.count == 1)
      company.people[2].friend = company.people[1]
      #expect((company.value(forKeyPath: "people.@distinctUnionOfObjects.friend") as? [Person])?.map(\.name) == ["Bob"])
    }

    @Test func `The path of a nested union is that of each element, be it an array or an object with an array`() {
      company.shelves = [company.people, [company.people[0]]]
      #expect(company.value(forKeyPath: "shelves.@unionOfArrays.age") as? [Int] == [30, 20, 20, 30])
      #expect(company.value(forKeyPath: "shelves.@distinctUnionOfArrays.age") as? [Int] == [30, 20])
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
      second.team = [ann]
      #expect(names("@unionOfArrays.team") == ["Ann"])  // nil has no elements
    }

    @Test(arguments: [
      ("people.@median.age", 36), ("people.name.@cuont", 36), ("@sum.people", 36), ("@count", 36),
      ("people.@unionOfArrays.age", 36), ("things.@unionOfObjects.self", 36), ("things.@unionOfArrays.self", 36),
      ("people.@sum.name", 26), ("people.@avg.self", 26), ("people.nothing", 9), ("people.@sum.nothing", 9),
      ("people.@sum", 9), ("people.@unionOfObjects", 9), ("people.@distinctUnionOfSets", 9),
    ])
    func `An operator that is unknown, misplaced or cannot take its operands is one fault`(path: String, code: Int) {
      company.things = [1, 2]
      #expect(faults { _ = company.value(forKeyPath: path) }.map(\.code) == [code])
    }

    @Test func `A fault about an operator names what cannot have it`() {
      let ann = company.people[0]
      let operated = refused { ann.value(forKeyPath: "age.@sum.self") }
      #expect(operated.map(\.summary) == ["a value of type Int has no collection operator @sum: it is no collection"])
      let watcher = Watcher()
      let observed = faults { ann.addObserver(watcher, forKeyPath: "name.@count") }
      #expect(
        observed.map(\.summary) == [
          #"cannot observe "name.@count": a value of type String has no collection operator @count: it is no collection"#
        ])
      #expect(ann.observationInfo == nil)
      let lists: [[Int]?] = [[1], nil]
      let union = refused { lists.value(forKeyPath: "@unionOfArrays.self") }
      #expect(union.first?.summary.contains("to a value of type Optional<Array<Int>>, which is not an array") == true)
      let mixed: [Any] = ["a", 1]
      #expect(refused { mixed.value(forKeyPath: "@max.self") }.map(\.code) == [26])
      #expect(faults { company.addObserver(watcher, forKeyPath: "people.@cuont") }.map(\.code) == [36])
    }

    @Test func `A set by key of a collection sets the value of every element, and is no change of the collection`() {
      #expect(company.changes(of: "people") { company.setValue(5, forKeyPath: "people.age") }.isEmpty)
      let people = company.people
      #expect(people.map(\.age) == [5, 5, 5])
      let leaves: Set = [Leaf(1), Leaf(2)]
      let dense = ContiguousArray(people)
      let sets: [() -> Void] = [
        { people.setValue(6, forKey: "age") }, { people.setValue(6, forKeyPath: "age") },
        { dense.setValue(6, forKey: "age") }, { dense.setValue(6, forKeyPath: "age") },
        { leaves.setValue(6, forKey: "value") }, { leaves.setValue(6, forKeyPath: "value") },
      ]
      for (row, set) in sets.enumerated() {
        for person in people { person.age = 0 }
        for leaf in leaves { leaf.value = 0 }
        set()
        let values = row < 4 ? people.map(\.age) : leaves.map { $0.value ?? 0 }
        #expect(Set(values) == [6], "\(row)")
      }
      #expect(dense.value(forKey: "age") as? [Int] == [0, 0, 0])
      people[0].age = 7
      #expect(NSArray(array: people).value(forKey: "age") as? [Int] == [7, 0, 0])
      #expect(NSOrderedSet(array: people).value(forKeyPath: "@max.age") as? Int == 7)
      #expect(NSSet(array: people).value(forKey: "age") as? Set<AnyHashable> == [0, 7])
    }
  }

  @KeyValueObservable
  private final class Leaf: Hashable {
    var value: Int?
    init(_ value: Int?) { self.value = value }
    static func == (left: Leaf, right: Leaf) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
#endif
