// The code of Documentation/Porting.md: key-value coding.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  // guide: hooks
  @KeyValueObservable
  final class Contact {
    var name = ""
    var age = 0
    var email: String?
    @NotObserved var extra: [String: Any] = [:]

    func value(forUndefinedKey key: String) -> Any? {
      extra[key]
    }

    func setValue(_ value: Any?, forUndefinedKey key: String) {
      extra[key] = value
    }

    func setNilValueForKey(_ key: String) {
      if key == "age" { age = 0 }
    }
  }
  // guide end

  @KeyValueObservable
  private final class AddressBook {
    var owner: Contact?
    var contacts: [Contact] = []
  }

  @Suite("The porting guide: key-value coding")
  struct GuideCodingTests {
    private let book = AddressBook()

    @Test func `Values are read and set by key`() {
      let contact = Contact()
      let book = book
      // guide: coding
      contact.setValue("Jane", forKey: "name")
      let name = contact.value(forKey: "name") as? String
      book.owner = contact
      book.setValue("j@x.org", forKeyPath: "owner.email")

      // A form that was filled in, or JSON.
      contact.setValuesForKeys([
        "name": "Joe", "age": "42", "email": NSNull(),
      ])
      let values = contact.dictionaryWithValues(
        forKeys: ["name", "age", "email"])
      // guide end
      #expect(name == "Jane")
      #expect(contact.name == "Joe" && contact.age == 42 && contact.email == nil)
      #expect(values["age"] as? Int == 42 && values["email"] is NSNull)
    }

    @Test func `Keys that are not there, and nil for a number, are the class's to decide`() {
      let contact = Contact()
      contact.setValue("Rome", forKey: "city")
      contact.age = 5
      contact.setValue(nil, forKey: "age")
      #expect(contact.value(forKey: "city") as? String == "Rome" && contact.age == 0)
    }

    @Test func `Operators compute over collections`() {
      let book = book
      // guide: operators
      book.contacts = [20, 40].map {
        let contact = Contact()
        contact.age = $0
        return contact
      }
      let mean =
        book.value(
          forKeyPath: "contacts.@avg.age") as? Double
      let ages =
        book.value(
          forKeyPath: "contacts.age") as? [Int]
      // guide end
      #expect(mean == 30 && ages == [20, 40])
    }
  }
#endif
