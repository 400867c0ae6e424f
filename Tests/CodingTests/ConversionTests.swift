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

    /// Returns the fault message of a set, after the class name. Nothing must change, and nobody must be notified.
    private func refusal(_ value: Any?, _ key: String) -> String {
      let before = record.value(forKey: key).map { "\($0)" }
      var raised: [Raised] = []
      let changes = record.changes(of: key) { raised = faults { record.setValue(value, forKey: key) } }
      #expect(changes.isEmpty && record.value(forKey: key).map { "\($0)" } == before, "\(key)")
      #expect(raised.map(\.code) == [26] && raised.first?.exception == "NSInvalidArgumentException", "\(key)")
      return raised.first?.summary.replacing("cannot set \"\(key)\" of Record: ", with: "") ?? ""
    }

    @Test func `A number is converted to any number type that can represent it exactly`() {
      let fives: [Any] = [5, Int8(5), UInt64(5), 5.0, Float(5), Decimal(5), NSNumber(value: 5), NSNumber(value: 5.0)]
      for five in fives {
        #expect(set(five, "int") as? Int == 5)
        #expect(set(five, "int8") as? Int8 == 5)
        #expect(set(five, "unsigned") as? UInt == 5)
        #expect(set(five, "double") as? Double == 5)
        #expect(set(five, "float") as? Float == 5)
        #expect(set(five, "decimal") as? Decimal == 5)
        #expect(set(five, "number") as? Int == 5)
      }
      #expect(set(1 << 60, "double") as? Double == 0x1p60)
      #expect(set(NSNumber(value: UInt64.max), "unsigned") as? UInt == .max)
      #expect(set(Double.infinity, "float") as? Float == .infinity)
      #expect((set(Double.nan, "float") as? Float)?.isNaN == true)
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
    }

    @Test func `Numbers and numeric strings of any type become an NSNumber`() {
      for value in [CGFloat(2), Float16(2), Int128(2), "2", Decimal(2), UInt8(2)] as [Any] {
        let holder = Holder(NSNumber(value: 1))
        holder.setValue(value, forKey: "value")
        #expect(holder.value == NSNumber(value: 2), "\(type(of: value))")
      }
      expectSet("two", as: NSNumber(value: 1), accepted: false)
      let holder = Holder(NSNumber(value: 1))
      holder.setValue(UInt64.max, forKey: "value")
      #expect(holder.value.uint64Value == .max)
    }

    @Test func `A CGFloat refuses a number that it cannot represent`() {
      expectSet((1 << 53) + 1, as: CGFloat(1), accepted: false)
      expectSet("3.14159265358979323846", as: CGFloat(1), accepted: false)
      expectSet("wide", as: CGFloat(1), accepted: false)
      expectSet(CGFloat(1e300), as: Float(1), accepted: false)
      expectSet(CGFloat(300), as: Int8(1), accepted: false)
      #expect([CGFloat(1), 2.5].value(forKeyPath: "@sum.self") as? Double == 3.5)
    }

    @Test func `A Bool is converted to 0 or 1, and these to a Bool`() {
      #expect(set(true, "int") as? Int == 1)
      #expect(set(1, "bool") as? Bool == true)
      #expect(set(0.0, "bool") as? Bool == false)
      #expect(set(NSNumber(value: true), "bool") as? Bool == true)
      #expect(refusal(2, "bool") == "expected Bool, was given Int (the number cannot be held exactly)")
    }

    @Test func `A number that is out of range, or has a fraction, is rejected with the reason`() {
      #expect(refusal(300, "int8") == "expected Int8, was given Int (the number cannot be held exactly)")
      #expect(refusal(-1, "unsigned") == "expected UInt, was given Int (the number cannot be held exactly)")
      #expect(refusal(2.5, "int") == "expected Int, was given Double (the number cannot be held exactly)")
      #expect(refusal(NSNumber(value: 2.5), "int").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal(Decimal(string: "2.5"), "int").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal((1 << 53) + 1, "double").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal(1e300, "float").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal(Double.nan, "int").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal(1e300, "decimal").hasSuffix("(the number cannot be held exactly)"))
      #expect(refusal(0x1p70, "int").contains("cannot be held exactly"))
    }

    @Test func `Fractions are equal if their decimal notation is equal`() {
      #expect(set(0.1, "float") as? Float == 0.1)
      #expect(set(Float(0.1), "double").map { type(of: $0) == Double.self } == true)
      #expect(set(0.1, "decimal") as? Decimal == Decimal(string: "0.1"))
      #expect(set(Decimal(string: "0.1"), "double") as? Double == 0.1)
      #expect(refusal(0.1 + 0.2, "float").hasSuffix("(the number cannot be held exactly)"))
      let third = Decimal(1) / Decimal(3)
      #expect(refusal(third, "double").contains("cannot be held exactly"))
    }

    @Test func `A text is converted to a number if it is exactly a numeral`() {
      #expect(set("5", "int") as? Int == 5)
      #expect(set("-5.0", "int") as? Int == -5)
      #expect(set("5e2", "int") as? Int == 500)
      #expect(set("+.5", "double") as? Double == 0.5)
      #expect(set("0.1", "float") as? Float == 0.1)
      #expect(set("12345678901234567890.5", "decimal") as? Decimal == Decimal(string: "12345678901234567890.5"))
      #expect(set("YES", "bool") as? Bool == true)
      #expect(set("false", "bool") as? Bool == false)
      #expect(set("1", "bool") as? Bool == true)
      #expect(set(NSString("7"), "number") as? Int == 7)
      for text in ["", " 5", "5 ", "five", "5x", "0x5", "1e", ".", "-", "nan", "5.5.5"] {
        #expect(
          refusal(text, "int") == "expected Int, was given String (the text is not exactly a number)", "\(text)")
      }
      #expect(refusal("300", "int8") == "expected Int8, was given String (the number cannot be held exactly)")
      #expect(refusal("3.14159265358979323846", "double").contains("cannot be held exactly"))
      #expect(refusal("1e999999", "int").contains("cannot be held exactly"))
    }

    @Test func `Every part of a numeral counts, and other characters are rejected`() {
      let record = Record()
      for (text, number) in ["1.50": 1.5, "+.5e1": 5, "-0.0": 0, "00120e-2": 1.2, "1E+3": 1000, "7": 7, "-2.5": -2.5] {
        record.setValue(text, forKey: "double")
        #expect(record.double == number, "\(text)")
      }
      for text in [
        "", ".", "5.", "e5", "1e", "1e+", "--1", "1 ", " 1", "1e1234567", "0x1", "1_000", "5\u{301}", "1.2.3", "٣",
      ] {
        #expect(faults { record.setValue(text, forKey: "double") }.map(\.code) == [26], "\(text)")
      }
    }

    @Test func `A number is not converted to a text`() {
      #expect(refusal(5, "string") == "expected String, was given Int")
      #expect(refusal(5, "text") == "expected String, was given Int")
    }

    @Test func `A raw value is converted to the enum or option set`() {
      #expect(set(2, "grade") as? Grade == .high)
      #expect(set("2", "grade") as? Grade == .high)
      #expect(set(Grade.low, "grade") as? Grade == .low)
      #expect(set(2.0, "maybeGrade") as? Grade == .high)
      #expect(set(nil, "maybeGrade") == nil)
      #expect(set(3, "options") as? Options == Options(rawValue: 3))
      #expect(refusal(3, "grade") == "expected Grade, was given Int (no value has this raw value)")
      #expect(refusal("high", "grade").hasPrefix("expected Grade, was given String"))
      #expect(refusal(300, "options") == "expected Options, was given Int (the number cannot be held exactly)")
    }

    @Test func `Optionals accept their wrapped type, nil and NSNull at every level`() {
      #expect(set(5, "nested") as? Int == 5)
      #expect(set(Int?.some(6) as Any?, "number") as? Int == 6)
      #expect(set(Int??.some(.none) as Any?, "number") == nil)
      record.number = 5
      #expect(set(NSNull(), "number") == nil && record.number == nil)
      record.text = "t"
      #expect(set(nil, "text") == nil && record.text == nil)
      #expect(set("t", "text") as? String == "t")
    }

    @Test func `NSNull is kept where the type can hold it`() {
      #expect(set(NSNull(), "any") is NSNull)
      #expect(set(NSNull(), "maybeAny") is NSNull)
      #expect(set(NSNull(), "object") is NSNull)
      #expect(refusal(NSNull(), "int") == "expected Int, was given NSNull")
    }

    @Test func `Collections are converted element by element`() {
      #expect(set([1.0, "2", NSNumber(value: 3)] as [Any], "numbers") as? [Int] == [1, 2, 3])
      #expect(set([UInt8(1)], "numbers") as? [Int] == [1])
      #expect(set(ContiguousArray([1, 2]), "numbers") as? [Int] == [1, 2])
      #expect(set([1, 2.0] as [Any], "dense") as? ContiguousArray<Int> == [1, 2])
      #expect(set(NSArray(array: [1, 2]), "numbers") as? [Int] == [1, 2])
      #expect(set([1, NSNull()] as [Any], "optionals") as? [Int?] == [1, nil])
      #expect(set(Set<AnyHashable>(["a"]), "tags") as? Set<String> == ["a"])
      #expect(set(NSSet(array: ["a", "b"]), "tags") as? Set<String> == ["a", "b"])
      #expect(set(["a": 1.0] as [AnyHashable: Any], "counts") as? [String: Int] == ["a": 1])
      #expect(set(["a": [1, 2]], "grades") as? [String: [Grade]] == ["a": [.low, .high]])
      #expect(set(NSDictionary(dictionary: ["a": 1]), "counts") as? [String: Int] == ["a": 1])
    }

    @Test func `An element that cannot be converted rejects the whole collection`() {
      #expect(refusal([1, "x"] as [Any], "numbers").contains("the text is not exactly a number"))
      #expect(refusal([1, NSNull()] as [Any], "numbers").hasPrefix("expected Int, was given NSNull"))
      #expect(refusal(Set([1]), "numbers") == "expected Array<Int>, was given Set<Int>")
      #expect(refusal(Set([1]), "dense") == "expected ContiguousArray<Int>, was given Set<Int>")
      #expect(refusal(["a"], "tags") == "expected Set<String>, was given Array<String>")
      #expect(refusal(Set([1]), "numbers") == "expected Array<Int>, was given Set<Int>")
      #expect(refusal([1: 1], "counts") == "expected String, was given Int")
    }

    @Test func `A nil element is no nil value: it rejects the collection, and the types of both are reported`() {
      let list = [5, nil] as [Int?]
      #expect(
        refusal(list, "numbers") == "expected Array<Int>, was given Array<Optional<Int>> (it contains nil)")
      #expect(refusal(list, "dense").hasPrefix("expected ContiguousArray<Int>, was given Array<Optional<Int>>"))
      #expect(refusal(["a", nil] as Set<String?>, "tags").hasPrefix("expected Set<String>, was given Set<Optional"))
      #expect(
        refusal(["a": nil] as [String: Int?], "counts")
          == "expected Dictionary<String, Int>, was given Dictionary<String, Optional<Int>> (it contains nil)")
      #expect(refusal([nil: 1] as [String?: Int], "counts").hasSuffix("(it contains nil)"))
      #expect(
        refusal(["a": [nil] as [Int?]], "grades")
          == "expected Array<Grade>, was given Array<Optional<Int>> (it contains nil)")
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
      #expect(refusal(Record(), "person") == "expected Person, was given Record")
      #expect(refusal(Record(), "named") == "expected Named, was given Record")
      #expect(refusal(1, "range") == "expected Range<Int>, was given Int")
      #expect(refusal(1, "action").hasSuffix("was given Int"))
    }

    @Test func `The result of a sum can be set wherever its number fits`() {
      #expect(set([1, 2].value(forKeyPath: "@sum.self"), "int") as? Int == 3)
      #expect(set([1, 2].value(forKeyPath: "@avg.self"), "double") as? Double == 1.5)
    }
  }
#endif
