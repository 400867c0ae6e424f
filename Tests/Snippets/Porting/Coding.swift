// The code of Documentation/Porting.md: key-value coding.
import Foundation
import KeyValueObserving
import Testing

// snippet: hooks

// snippet: has key

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
    // snippet: coding
    #expect(name == "Jane")
    #expect(contact.name == "Joe" && contact.age == 42 && contact.email == nil)
    #expect(values["age"] as? Int == 42 && values["email"] is NSNull)
  }

  @Test func `A class decides about undefined keys and about nil for a number`() {
    let contact = Contact()
    contact.setValue("Rome", forKey: "city")
    contact.age = 5
    contact.setValue(nil, forKey: "age")
    #expect(contact.value(forKey: "city") as? String == "Rome" && contact.age == 0)
  }

  @Test func `Operators compute with collections`() {
    let book = book
    // snippet: operators
    #expect(mean == 30 && ages == [20, 40])
  }

  @Test func `A program can test whether a key exists`() {
    #expect(book.hasKey("owner") && book.hasKey("contacts") && !book.hasKey("ownr"))
  }
}
