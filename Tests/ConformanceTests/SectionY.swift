// Sections Y and O of Documentation/AppleCompatibility.md: reading, setting and observing collections and their operators.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// A class with a value that may be nil.
  @KeyValueObservable
  private final class Item: Hashable {
    var number: Double?
    var parts: [Double] = []
    init(_ number: Double?, _ parts: [Double] = []) { (self.number, self.parts) = (number, parts) }
    static func == (left: Item, right: Item) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @KeyValueObservable
  private final class Box {
    var items: [Item] = []
    var arrays: [[Item]] = []
    var itemSet: Set<Item> = []
    var sets: Set<Set<Int>> = []
    var words: [String] = []
  }

  /// Declares a path through an array; its value reads no observed property.
  @KeyValueObservable
  private final class Declaring {
    var items = [Item(1)]
    @NotObserved var hidden: Double = 0
    var total: Double { hidden }
    var sum: Double { items.reduce(0) { $0 + ($1.number ?? 0) } }
    static func keyPathsForValuesAffectingTotal() -> Set<String> { ["items.number"] }
  }

  @Suite("Y. Key-value coding: collections and operators")
  struct SectionY {
    private let box = Box()
    let w = Watcher()

    init() { box.items = [Item(0.1), Item(nil), Item(0.2), Item(0.1)] }

    private func value(_ path: String) -> Any? { box.value(forKeyPath: path) }

    @Test func `370, 373: A key of an array has an array of values, NSNull for nil; @count its count`() {
      let values = value("items.number") as? [Any]
      #expect(values?.count == 4 && values?[1] is NSNull && values?[0] as? Double == 0.1)
      #expect(box.items.value(forKey: "@count") as? Int == 4)
    }

    @Test func `371: A key of a set has a set of values, without nil`() {
      box.itemSet = Set(box.items)
      #expect(value("itemSet.number") as? Set<AnyHashable> == [0.1, 0.2])
    }

    @Test func `372: A set by key sets it on every element`() {
      box.items.setValue(1, forKey: "number")
      #expect(box.items.allSatisfy { $0.number == 1 })
    }

    @Test func `374, 386: The collection is on the left of an operator, the path for each element on its right`() {
      box.arrays = [[Item(1), Item(2)], [Item(3)]]
      #expect(value("arrays.@max.@sum.number") as? Int == 3)
      box.items = [Item(0, [1, 3]), Item(0, [4])]
      #expect(value("items.@sum.parts.@avg.self") as? Int == 6)
    }

    @Test func `375: @count ignores the rest of the path`() {
      #expect(value("items.@count") as? Int == 4)
      #expect(value("items.@count.number") as? Int == 4)
    }

    @Test func `376: @sum is decimal, ignores nil, and is 0 for an empty collection`() {
      box.items.removeLast()
      #expect(value("items.@sum.number") as? Decimal == Decimal(string: "0.3"))
      box.items = []
      #expect(value("items.@sum.number") as? Int == 0)
    }

    @Test func `377: @avg also counts elements without a value, and is nil for an empty collection`() {
      #expect(value("items.@avg.number") as? Decimal == Decimal(string: "0.1"))
      box.items = []
      #expect(value("items.@avg.number") == nil)
    }

    @Test func `378: @min and @max ignore nil, and are nil for an empty collection`() {
      #expect(value("items.@min.number") as? Double == 0.1)
      #expect(value("items.@max.number") as? Double == 0.2)
      box.items = []
      #expect(value("items.@max.number") == nil)
    }

    @Test
    func `379, 380: @unionOfObjects keeps order and duplicates, without nil; the distinct one removes duplicates`() {
      #expect(value("items.@unionOfObjects.number") as? [Double] == [0.1, 0.2, 0.1])
      #expect(Set(value("items.@distinctUnionOfObjects.number") as? [Double] ?? []) == [0.1, 0.2])
    }

    @Test func `381: The unions of arrays flatten; an element that is not an array is a fault`() {
      box.arrays = [box.items, [Item(5)]]
      #expect(value("arrays.@unionOfArrays.number") as? [Double] == [0.1, 0.2, 0.1, 5])
      #expect(Set(value("arrays.@distinctUnionOfArrays.number") as? [Double] ?? []) == [0.1, 0.2, 5])
      let raised = faults { nilIs(value("items.@unionOfArrays.number")) }
      #expect(raised.map(\.exceptionName) == ["NSInvalidArgumentException"])
    }

    @Test func `382: Sets support the distinct unions only`() {
      box.sets = [[1, 2], [2, 3]]
      #expect(value("sets.@distinctUnionOfSets.self") as? Set<AnyHashable> == [1, 2, 3])
      let raised = faults { nilIs(value("sets.@unionOfObjects.self")) }
      #expect(raised.map(\.exceptionName) == ["NSInvalidArgumentException"])
    }

    @Test func `383: An operator without the path it needs is an undefined key`() {
      #expect(faults { nilIs(value("items.@sum")) }.map(\.exceptionName) == ["NSUnknownKeyException"])
    }

    @Test func `277, 384: An operator that does not exist`() {
      #expect(
        sentences { nilIs(value("items.@bogus.number")) } == [
          "NSInvalidArgumentException [<Array<Item> 0xPTR> valueForKeyPath:]: this class does not implement the bogus "
            + "operation."
        ])
    }

    @Test func `385: An operand that cannot be added is a fault`() {
      box.words = ["a", "b"]
      #expect(codes { nilIs(value("words.@sum.self")) } == [26])
      #expect(codes { nilIs(value("words.@avg.self")) } == [26])
    }

    @Test func `156, 254, 255, 390: Operators at the end of a path are observed, and notify of changes of elements`() {
      box.add(w, "items.@count")
      box.items.append(Item(1))
      box.remove(w, "items.@count")
      #expect(w.take() == ["w 4>5"])
      box.items = [Item(1), Item(2)]
      box.add(w, "items.@sum.number")
      box.items[0].number = 5
      box.items.append(Item(3))
      #expect(w.take() == ["w 3>7", "w 7>10"])
      box.remove(w, "items.@sum.number")
    }

    @Test func `188: A declared dependency through a collection depends on the collection and on its elements`() {
      let declaring = Declaring()
      declaring.add(w, "total")
      declaring.items[0].number = 5
      declaring.items.append(Item(3))
      #expect(w.lines == ["w 0.0>0.0", "w 0.0>0.0"])
      declaring.remove(w, "total")
      _ = w.take()
      declaring.add(w, "sum")
      declaring.items[0].number = 6  // the reads of the getter are recorded
      #expect(w.lines == ["w 8.0>9.0"])
      declaring.remove(w, "sum")
    }

    @Test func `155, 251, 252, 271: A path through a collection is a fault, and nothing stays registered`() {
      #expect(
        sentences { box.add(w, "items.number", []) } == [
          "NSInvalidArgumentException [<Array<Item> 0xPTR> addObserver:forKeyPath:options:context:] is not supported. Key path: "
            + "number"
        ])
      #expect(box.observationInfo == nil)
    }
  }
#endif
