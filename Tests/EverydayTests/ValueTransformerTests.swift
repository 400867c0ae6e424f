// Value transformers and their names.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A value transformer", .serialized)
  struct ValueTransformerTests {
    @Test("negates booleans, also as numbers and strings, and back")
    func negates() throws {
      let negate = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
      #expect(type(of: negate).allowsReverseTransformation())
      let rows: [(Any?, Bool)] = [(true, false), (NSNumber(value: 0), true), (2, false), ("NO", true), (nil, true)]
      for (value, negated) in rows { #expect(negate.transformedValue(value) as? Bool == negated, "\(value ?? "nil")") }
      #expect(negate.reverseTransformedValue(false) as? Bool == true)
      #expect(negate.transformedValue([1]) == nil)
    }

    @Test("detects nil, and does not convert that back: KVO0008")
    func nils() throws {
      let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
      let isNotNil = try #require(ValueTransformer(forName: .isNotNilTransformerName))
      #expect([nil, 1].map { isNil.transformedValue($0) as? Bool } == [true, false])
      #expect([nil, 1].map { isNotNil.transformedValue($0) as? Bool } == [false, true])
      #expect(isNil.transformedValue(NSNull()) as? Bool == true)
      #expect(!type(of: isNil).allowsReverseTransformation())
      var result: Any? = 1
      #expect(faults { result = isNotNil.reverseTransformedValue(true) } == [8])
      #expect(result == nil)
    }

    @Test("is registered for a name, replaced and removed")
    func registry() {
      let name = NSValueTransformerName("test.registry")
      #expect(ValueTransformer(forName: name) == nil)
      let (first, second) = (Upper(), Upper())
      ValueTransformer.setValueTransformer(first, forName: name)
      #expect(ValueTransformer(forName: name) === first)
      let raw = ValueTransformer.valueTransformerNames().map(\.rawValue)
      #expect(raw == raw.sorted())
      #expect(Set(raw).isSuperset(of: [name.rawValue, "NSIsNil", "NSIsNotNil", "NSNegateBoolean"]))
      ValueTransformer.setValueTransformer(second, forName: name)
      #expect(ValueTransformer(forName: name) === second)
      #expect(Upper(forName: name) === second)
      ValueTransformer.setValueTransformer(nil, forName: name)
      #expect(ValueTransformer(forName: name) == nil)
    }

    @Test("of a subclass converts back by default with transformedValue")
    func defaults() {
      #expect(Upper().reverseTransformedValue("a") as? String == "A")
      #expect(ValueTransformer().transformedValue(7) as? Int == 7)
      #expect(Upper.allowsReverseTransformation())
      #expect(ObjectIdentifier(Upper.transformedValueClass()) == ObjectIdentifier(NSObject.self))
    }

    @Test("can be registered and found by several threads at the same time")
    func threads() {
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        let name = NSValueTransformerName("test.threads.\(thread % 2)")
        for _ in 0..<500 {
          ValueTransformer.setValueTransformer(Upper(), forName: name)
          #expect(ValueTransformer(forName: .isNilTransformerName) != nil)
          _ = ValueTransformer(forName: name)?.transformedValue("a")
          ValueTransformer.setValueTransformer(nil, forName: name)
        }
      }
    }
  }

  private final class Upper: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
  }
#endif
