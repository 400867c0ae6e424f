// Faults of key-value coding name the source location of the call and a similar key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Source locations of key-value coding")
  struct PlaceTests {
    private func fault(_ body: () -> Void) -> KeyValueFault? {
      nonisolated(unsafe) var faults: [KeyValueFault] = []
      KeyValueFault.withHandler {
        faults.append($0)
        return .ignore
      } in: {
        body()
      }
      #expect(faults.count == 1)
      return faults.first
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
        let fault = fault(call)
        #expect(fault?.file == #fileID && fault?.line == Int(line), "line \(line)")
      }
    }

    @Test func `A fault of another object's code does not name the call's source location`() {
      let inner = Person("Ann")
      let fault = fault { _ = [Curious(inner)].value(forKey: "answer") }
      #expect(fault?.code == 9 && fault?.file == nil)
    }

    @Test func `A fault that follows one of another object's code still names the call's source location`() {
      nonisolated(unsafe) var raised: [KeyValueFault] = []
      let line = #line + 5
      KeyValueFault.withHandler {
        raised.append($0)
        return .ignore
      } in: {
        _ = [Inquisitive("Ann")].value(forKey: "answer")
      }
      #expect(raised.map(\.code) == [9, 9])
      #expect(raised.first?.file == nil && raised.last?.file == #fileID && raised.last?.line == line)
    }

    @Test func `A misspelt key or operator is reported with the similar one`() {
      let company = Company()
      company.people = [Person("Ann")]
      #expect(fault { company.setValue(1, forKey: "tema") }?.help?.hasPrefix("did you mean \"team\"? ") == true)
      #expect(
        fault { _ = company.value(forKeyPath: "people.@averge.age") }?.help?.hasPrefix("did you mean \"@avg\"? ")
          == true)
      #expect(fault { _ = company.value(forKey: "zzzzzz") }?.help?.hasPrefix("the keys of Company are: ") == true)
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

  /// A class whose getter raises a fault.
  @KeyValueObservable
  private final class Curious {
    let person: Person
    var answer: Any? { person.value(forKey: "answer") }
    init(_ person: Person) { self.person = person }
  }
#endif
