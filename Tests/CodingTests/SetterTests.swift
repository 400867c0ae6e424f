// Values set by keys and key paths, through the setter, with one notification.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Setting by key")
  struct SetterTests {
    private let record = Record()

    @Test func `A set goes through the setter, and observers are notified once`() {
      #expect(record.changes(of: "int") { record.setValue(5, forKey: "int") } == ["int 1>5"])
      #expect(record.int == 5)
    }

    @Test func `A set of a computed property notifies of the properties that its setter sets`() {
      #expect(record.changes(of: "doubled") { record.setValue(10, forKey: "doubled") } == ["doubled 2>10"])
      #expect(record.int == 5)
    }

    @Test func `A set of a key without notifying accessors notifies`() {
      #expect(record.changes(of: "plain") { record.setValue(5, forKey: "plain") } == ["plain 0>5"])
    }

    @Test func `A set of a weak property notifies once`() {
      let ann = Person("Ann")
      #expect(record.changes(of: "weakPerson.name") { record.setValue(ann, forKey: "weakPerson") }.count == 1)
      #expect(record.weakPerson === ann)
    }

    @Test func `A set of a key path sets the last object's property, and notifies the observers of both`() {
      let (ann, bob) = (Person("Ann"), Person("Bob"))
      ann.friend = bob
      var inner: [String] = []
      let outer = ann.changes(of: "friend.name") {
        inner = bob.changes(of: "name") { ann.setValue("Rob", forKeyPath: "friend.name") }
      }
      #expect(outer == ["friend.name Bob>Rob"] && inner == ["name Bob>Rob"])
    }

    @Test func `A set of a key path with a nil on the path does nothing`() {
      let ann = Person("Ann")
      #expect(faults { ann.setValue("Rob", forKeyPath: "friend.name") }.isEmpty)
      #expect(faults { ann.setValue("Rob", forKeyPath: "friend.friend.nothing") }.isEmpty)
    }

    @Test func `setValuesForKeys sets nil for NSNull`() {
      record.text = "t"
      record.setValuesForKeys(["int": 4, "text": NSNull(), "maybeAny": NSNull()])
      #expect(record.int == 4 && record.text == nil && record.maybeAny == nil)
    }

    @Test func `Setting a read-only property is an undefined key`() {
      for key in ["constant", "half", "nothing"] {
        let raised = faults { record.setValue(1, forKey: key) }
        #expect(raised.map(\.exception) == ["NSUnknownKeyException"])
        #expect(
          raised.first?.sentence
            == "[<Record 0x> setValue:forUndefinedKey:]: this class is not key value coding-compliant for the key \(key)."
        )
      }
      #expect(record.constant == 7)
      let help = faults { record.setValue(1, forKey: "constant") }.first?.help
      #expect(help == "give the property a setter, or set what it is computed from")
    }

    @Test func `Nil for a non-optional property is fault KVO0035 with Apple's sentence, and nobody is notified`() {
      var raised: [Raised] = []
      let changes = record.changes(of: "int") { raised = faults { record.setValue(nil, forKey: "int") } }
      #expect(changes.isEmpty && record.int == 1)
      #expect(raised.map(\.code) == [35] && raised.first?.exception == "NSInvalidArgumentException")
      #expect(
        raised.first?.sentence == "[<Record 0x> setNilValueForKey]: could not set nil as the value for the key int.")
      #expect(record.changes(of: "int") { record.int = 2 } == ["int 1>2"])
    }

    @Test func `A value of the wrong type is fault KVO0026 with class, key and both types, and nobody is notified`() {
      var raised: [Raised] = []
      let changes = record.changes(of: "int") { raised = faults { record.setValue(Person("Ann"), forKey: "int") } }
      #expect(changes.isEmpty && record.int == 1)
      #expect(raised.map(\.code) == [26] && raised.first?.exception == "NSInvalidArgumentException")
      #expect(raised.first?.summary == #"cannot set "int" of Record: expected Int, was given Person"#)
    }
  }
#endif
