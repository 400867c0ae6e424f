// Faults of key-value coding name the source location of the call and a similar key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Source locations of key-value coding")
  struct PlaceTests {
    private func places(_ body: () -> Void) -> [KeyValueFault] {
      nonisolated(unsafe) var faults: [KeyValueFault] = []
      KeyValueFault.withHandler {
        faults.append($0)
        return .ignore
      } in: {
        body()
      }
      return faults
    }

    @Test func `A fault names the source location of every call with a parameter for it`() {
      let company = Company()
      company.people = [Person("Ann")]
      var dictionary = ["a": 1]
      var value: Any? = 1
      let calls: [(UInt, () -> Void)] = [
        (#line, { _ = company.value(forKeyPath: "people.nmae") }),
        (#line, { company.setValue(1, forKeyPath: "people.nmae") }),
        (#line, { company.people[0].setValue(nil, forKeyPath: "age") }),
        (#line, { company.people[0].setValue("x", forKeyPath: "age") }),
        (#line, { _ = company.dictionaryWithValues(forKeys: ["poeple"]) }),
        (#line, { company.setValuesForKeys(["poeple": 1]) }),
        (#line, { try? company.validateValue(&value, forKeyPath: "poeple.name") }),
        (#line, { _ = company.people.value(forKey: "nmae") }),
        (#line, { company.people.setValue(1, forKey: "nmae") }),
        (#line, { _ = company.value(forKeyPath: "people.@averge.age") }),
        (#line, { _ = company.value(forKeyPath: "people.@sum.name") }),
        (#line, { _ = company.mutableArrayValue(forKeyPath: "poeple") }),
        (#line, { _ = company.mutableArrayValue(forKeyPath: "poeple.name") }),
        (#line, { dictionary.setValue("x", forKey: "a") }),
        (#line, { _ = Set([1]).value(forKeyPath: "name") }),
      ]
      for (line, call) in calls {
        let raised = places(call)
        #expect(raised.count == 1 && raised[0].file == #fileID && raised[0].line == Int(line), "line \(line)")
      }
    }

    @Test func `Only a fault of the call itself names its source location, not one of another object's code`() {
      let line = #line + 1
      let raised = places { _ = [Inquisitive("Ann")].value(forKey: "answer") }
      #expect(raised.map(\.code) == [9, 9])
      #expect(raised.first?.file == nil && raised.last?.file == #fileID && raised.last?.line == line)
    }

    @Test func `A misspelt key or operator is reported with the similar one`() {
      let company = Company()
      company.people = [Person("Ann")]
      let raised = faults {
        company.setValue(1, forKey: "tema")
        _ = company.value(forKeyPath: "people.@averge.age")
        _ = company.value(forKey: "zzzzzz")
      }
      let helps = ["did you mean \"team\"? ", "did you mean \"@avg\"? ", "the keys of Company are: "]
      #expect(raised.count == 3)
      for (fault, help) in zip(raised, helps) { #expect(fault.help?.hasPrefix(help) == true, "\(fault)") }
      #expect(raised[1].sentence?.hasSuffix(": this class does not implement the averge operation.") == true)
      #expect(refused { [1].value(forKey: "x.y") }.first?.sentence?.hasSuffix("for the key x.y.") == true)
    }
  }

  /// Asks another object for the keys that it does not have.
  private final class Inquisitive: Person {
    let other = Person("Bob")
    override func value(forUndefinedKey key: String) -> Any? {
      _ = other.value(forKey: key)
      return super.value(forUndefinedKey: key)
    }
  }
#endif
