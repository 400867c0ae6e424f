// Conversions of values that are set by key: lossless ones are made, others are rejected.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private final class Holder<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  /// A number in each type.
  private func integers(_ number: Int) -> [any FixedWidthInteger] {
    [
      number, Int8(number), Int16(number), Int32(number), Int64(number), Int128(number),
      UInt(number), UInt8(number), UInt16(number), UInt32(number), UInt64(number), UInt128(number),
    ]
  }
  private func fractions(_ number: Double) -> [any BinaryFloatingPoint] {
    var all: [any BinaryFloatingPoint] = [number, Float(number), Float16(number), CGFloat(number)]
    #if arch(x86_64)
      all.append(Float80(number))
    #endif
    return all
  }

  /// Expects that a property of a number's type takes a value as that number, or refuses it; alone and as an optional.
  private func expectSet<Value: Equatable>(_ given: Any, as number: Value, accepted: Bool) {
    let (plain, optional) = (Holder(number), Holder(Value?.none))
    let raised = faults {
      plain.setValue(given, forKey: "value")
      optional.setValue(given, forKey: "value")
    }
    let names = Comment(rawValue: "\(type(of: given)) to \(Value.self)")
    #expect(raised.map(\.code) == (accepted ? [] : [26, 26]), names)
    #expect(plain.value == number && optional.value == (accepted ? number : nil), names)
  }

  @Suite("Conversions")
  struct ConversionTests {
    private let record = Record()

    /// Returns the value of a key after a set that raises no fault.
    private func set(_ value: Any?, _ key: String) -> Any? {
      let raised = faults { record.setValue(value, forKey: key) }
      #expect(raised.isEmpty, "\(key)")
      return record.value(forKey: key)
    }

    /// Expects that each value is accepted by a key and results in a value.
    private func expectAccepted(_ rows: [(given: Any?, key: String, result: AnyHashable?)]) {
      for row in rows {
        #expect(set(row.given, row.key) as? AnyHashable == row.result, "\(row)")
      }
    }

    /// Expects that each value is refused by a key, with a reason. Nothing must change, and nobody must be notified.
    private func expectRefused(_ rows: [(given: Any?, key: String, reason: String)]) {
      for (given, key, reason) in rows {
        let before = record.value(forKey: key).map { "\($0)" }
        var raised: [Raised] = []
        let changes = record.changes(of: key) { raised = faults { record.setValue(given, forKey: key) } }
        #expect(changes.isEmpty && record.value(forKey: key).map { "\($0)" } == before, "\(key): \(reason)")
        #expect(raised.map(\.code) == [26] && raised.first?.exception == "NSInvalidArgumentException", "\(key)")
        let summary = raised.first?.summary ?? ""
        #expect(summary.hasPrefix("cannot set \"\(key)\" of Record: ") && summary.contains(reason), "\(key): \(reason)")
      }
    }

    @Test func `Every number type is converted to every other one`() {
      let numbers: [any Equatable] = integers(1) + fractions(1) + [Decimal(1), true]
      for number in numbers {
        for given in numbers + [NSNumber(value: 1), NSNumber(value: 1.0), NSDecimalNumber(value: 1), "1"] {
          expectSet(given, as: number, accepted: true)
        }
      }
      for number in fractions(0.5) {
        for given in fractions(0.5) + [Decimal(0.5), NSNumber(value: 0.5), "0.5"] as [Any] {
          expectSet(given, as: number, accepted: true)
        }
        for integer in integers(1) { expectSet(number, as: integer, accepted: false) }
      }
      for number in fractions(.infinity) {
        for given in fractions(.infinity) { expectSet(given, as: number, accepted: true) }
        for integer in integers(1) { expectSet(number, as: integer, accepted: false) }
      }
      for nan in fractions(.nan) {
        for integer in integers(1) { expectSet(nan, as: integer, accepted: false) }
        expectSet(nan, as: Decimal(1), accepted: false)
        let holder = Holder(CGFloat(1))
        holder.setValue(nan, forKey: "value")
        #expect(holder.value.isNaN)
      }
      expectSet(0.0, as: false, accepted: true)
      expectSet(1 << 60, as: 0x1p60, accepted: true)
      expectSet(NSNumber(value: UInt64.max), as: UInt.max, accepted: true)
    }

    @Test func `Numbers and numeric strings of any type become an NSNumber`() {
      let holder = Holder(NSNumber(value: 1))
      let twos: [Any] = [CGFloat(2), Float16(2), Int128(2), "2", Decimal(2), UInt8(2)]
      for two in twos {
        holder.value = 1
        holder.setValue(two, forKey: "value")
        #expect(holder.value == NSNumber(value: 2), "\(type(of: two))")
      }
      expectSet("two", as: NSNumber(value: 1), accepted: false)
      holder.setValue(UInt64.max, forKey: "value")
      #expect(holder.value.uint64Value == .max)
    }

    @Test func `A CGFloat refuses a number that it cannot represent`() {
      expectSet((1 << 53) + 1, as: CGFloat(1), accepted: false)
      expectSet("3.14159265358979323846", as: CGFloat(1), accepted: false)
      expectSet("wide", as: CGFloat(1), accepted: false)
      expectSet(CGFloat(1e300), as: Float(1), accepted: false)
      expectSet(CGFloat(300), as: Int8(1), accepted: false)
    }

    @Test func `A number that is out of range or has a fraction is rejected with the reason, and a number for a text`()
    {
      let inexact = "(the number cannot be held exactly)"
      expectRefused([
        (300, "int8", "expected Int8, was given Int \(inexact)"),
        (-1, "unsigned", "expected UInt, was given Int \(inexact)"),
        (2.5, "int", "expected Int, was given Double \(inexact)"),
        (2, "bool", "expected Bool, was given Int \(inexact)"),
        (NSNumber(value: 2.5), "int", inexact), (Decimal(string: "2.5"), "int", inexact), (Double.nan, "int", inexact),
        ((1 << 53) + 1, "double", inexact), (1e300, "float", inexact), (1e300, "decimal", inexact),
        (0x1p70, "int", inexact), (5, "string", "expected String, was given Int"),
        (5, "text", "expected String, was given Int"),
      ])
    }

    @Test func `Fractions are equal if their decimal notation is equal`() {
      expectAccepted([
        (0.1, "float", Float(0.1)), (0.1, "decimal", Decimal(string: "0.1")!), (Decimal(string: "0.1"), "double", 0.1),
      ])
      let inexact = "(the number cannot be held exactly)"
      expectRefused([(0.1 + 0.2, "float", inexact), (Decimal(1) / Decimal(3), "double", inexact)])
    }

    @Test func `A text is converted to a number if it is exactly a numeral`() {
      expectAccepted([
        ("5", "int", 5), ("-5.0", "int", -5), ("5e2", "int", 500), (NSString("7"), "number", 7),
        ("0.1", "float", Float(0.1)),
        ("+.5e1", "double", 5.0), ("00120e-2", "double", 1.2), ("1E+3", "double", 1000.0),
        ("12345678901234567890.5", "decimal", Decimal(string: "12345678901234567890.5")!),
        ("YES", "bool", true), ("false", "bool", false), ("1", "bool", true),
      ])
      let texts = ["", " 5", "5 ", "five", "5x", "0x5", "1e", ".", "-", "nan", "5.5.5"]
      let others = ["5.", "e5", "1e+", "--1", "1e1234567", "1_000", "5\u{301}", "٣"]
      expectRefused(
        texts.map { ($0, "int", "expected Int, was given String (the text is not exactly a number)") })
      expectRefused(
        others.map { ($0, "double", "was given String") } + [
          ("300", "int8", "expected Int8, was given String (the number cannot be held exactly)"),
          ("3.14159265358979323846", "double", "cannot be held exactly"), ("1e999999", "int", "cannot be held exactly"),
        ])
    }

    @Test func `A raw value is converted to the enum or option set`() {
      expectAccepted([
        (2, "grade", Grade.high), ("2", "grade", Grade.high), (Grade.low, "grade", Grade.low),
        (2.0, "maybeGrade", Grade.high), (nil, "maybeGrade", nil),
      ])
      #expect(set(3, "options") as? Options == Options(rawValue: 3))
      expectRefused([
        (3, "grade", "expected Grade, was given Int (no value has this raw value)"),
        ("high", "grade", "expected Grade, was given String"),
        (300, "options", "expected Options, was given Int (the number cannot be held exactly)"),
      ])
    }

    @Test func `Optionals accept their wrapped type, nil and NSNull at every level`() {
      expectAccepted([
        (5, "nested", 5), (Int?.some(6), "number", 6), (Int??.some(.none) as Any?, "number", nil),
        (7, "number", 7), (NSNull(), "number", nil), ("t", "text", "t"), (nil, "text", nil),
      ])
    }

    @Test func `NSNull is kept where the type can hold it`() {
      for key in ["any", "maybeAny", "object"] { #expect(set(NSNull(), key) is NSNull, "\(key)") }
      expectRefused([(NSNull(), "int", "expected Int, was given NSNull")])
    }

    @Test func `Collections are converted element by element`() {
      expectAccepted([
        ([1.0, "2", NSNumber(value: 3)] as [Any], "numbers", [1, 2, 3]), ([UInt8(1)], "numbers", [1]),
        (ContiguousArray([1, 2]), "numbers", [1, 2]), (NSArray(array: [1, 2]), "numbers", [1, 2]),
        ([1, 2.0] as [Any], "dense", [1, 2] as ContiguousArray),
        ([1, NSNull()] as [Any], "optionals", [1, nil] as [Int?]),
        (Set<AnyHashable>(["a"]), "tags", ["a"] as Set), (NSSet(array: ["a", "b"]), "tags", ["a", "b"] as Set),
        (["a": 1.0] as [AnyHashable: Any], "counts", ["a": 1]),
        (NSDictionary(dictionary: ["a": 1]), "counts", ["a": 1]),
        (["a": [1, 2]], "grades", ["a": [Grade.low, .high]]),
      ])
    }

    @Test func `An element that cannot be converted rejects the whole collection`() {
      expectRefused([
        ([1, "x"] as [Any], "numbers", "the text is not exactly a number"),
        ([1, NSNull()] as [Any], "numbers", "expected Int, was given NSNull"),
        (Set([1]), "numbers", "expected Array<Int>, was given Set<Int>"),
        (Set([1]), "dense", "expected ContiguousArray<Int>, was given Set<Int>"),
        (["a"], "tags", "expected Set<String>, was given Array<String>"),
        ([1: 1], "counts", "expected String, was given Int"),
      ])
    }

    @Test func `A nil element is no nil value: it rejects the collection, and the types of both are reported`() {
      let list = [5, nil] as [Int?]
      expectRefused([
        (list, "numbers", "expected Array<Int>, was given Array<Optional<Int>> (it contains nil)"),
        (list, "dense", "expected ContiguousArray<Int>, was given Array<Optional<Int>>"),
        (["a", nil] as Set<String?>, "tags", "expected Set<String>, was given Set<Optional"),
        (
          ["a": nil] as [String: Int?], "counts",
          "expected Dictionary<String, Int>, was given Dictionary<String, Optional<Int>> (it contains nil)"
        ),
        ([nil: 1] as [String?: Int], "counts", "(it contains nil)"),
        (["a": [nil] as [Int?]], "grades", "expected Array<Grade>, was given Array<Optional<Int>> (it contains nil)"),
      ])
      #expect(set(list, "optionals") as? [Int?] == list)
    }

    @Test func `Structures, functions, classes and protocols accept values of their type`() {
      let ann = Person("Ann")
      #expect((set((x: 1, y: 2), "point") as? (x: Int, y: Int))?.y == 2)
      #expect(set(2..<4, "range") as? Range<Int> == 2..<4)
      let action: () -> String = { "run" }
      #expect((set(action, "action") as? () -> String)?() == "run")
      #expect(set(ann, "person") as? Person === ann)
      #expect(set(ann, "named") as? Person === ann)
      #expect(set(nil, "person") == nil)
      expectRefused([
        (Record(), "person", "expected Person, was given Record"),
        (Record(), "named", "expected Named, was given Record"),
        (1, "range", "expected Range<Int>, was given Int"), (1, "action", "was given Int"),
      ])
    }
  }
#endif
