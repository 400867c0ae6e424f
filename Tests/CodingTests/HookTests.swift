// Methods of key-value coding that classes implement and subclasses override.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Overrides each method below the class in which the macro generated it.
  private final class Flexible: Person {
    var others: [String: Any] = [:]

    override func value(forUndefinedKey key: String) -> Any? {
      key == "nothing" ? super.value(forUndefinedKey: key) : others[key]
    }
    override func setValue(_ value: Any?, forUndefinedKey key: String) {
      guard key != "nothing" else { return super.setValue(value, forUndefinedKey: key) }
      others[key] = value
    }
    override func setNilValueForKey(_ key: String) {
      if key == "age" { age = -1 } else { super.setNilValueForKey(key) }
    }
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      if key == "name" { value = "validated" } else { try super.validateValue(&value, forKey: key) }
    }
    override var observationInfo: UnsafeMutableRawPointer? {
      infoWasRead = true
      return super.observationInfo
    }
    var infoWasRead = false
  }

  /// Does the same below the library's base class, on an actor, in a subclass without the macro.
  @MainActor
  @KeyValueObservable
  private class Window: KeyValueObject {
    var title = "t"
  }

  private final class Panel: Window {
    override nonisolated func value(forUndefinedKey key: String) -> Any? { "undefined \(key)" }
    override nonisolated func setNilValueForKey(_ key: String) {
      MainActor.assumeIsolated { title = "nil for \(key)" }
    }
    override nonisolated class var accessInstanceVariablesDirectly: Bool { false }
  }

  /// Classes that provide some keys themselves: a root class, and subclasses with and without the macro.
  @KeyValueObservable
  private class Speaker {
    var name = "ann"
    var parts: [Speaker] = []
    var stored: [String: Int] = [:]
    func value(forKey key: String) -> Any? {
      switch key {
      case "name": "<\(name)>"
      case "shout": name.uppercased()
      default: codedValue(forKey: key)
      }
    }
    func setValue(_ value: Any?, forKey key: String) {
      if key == "shout" { name = (value as? String ?? "").lowercased() } else { setCodedValue(value, forKey: key) }
    }
  }

  @KeyValueObservable
  private class LoudSpeaker: Speaker {
    var volume = 1
    override func value(forKey key: String) -> Any? { key == "volume" ? 11 : super.value(forKey: key) }
  }

  private final class Whisperer: LoudSpeaker, @unchecked Sendable {
    override func value(forKey key: String) -> Any? { key == "name" ? "psst" : super.value(forKey: key) }
    override func setValue(_ value: Any?, forKey key: String) { super.setValue("\(value ?? "")!", forKey: key) }
  }

  private struct Refusal: Error, Equatable {
    let key: String
  }

  @KeyValueObservable
  private class Account {
    var balance = 0
    var owner: Person?
    var URL = ""

    func validateBalance(_ value: inout Any?) throws {
      guard let amount = value as? Int else { throw Refusal(key: "balance") }
      value = max(amount, 0)
    }
    func validateURL(_ value: inout Any?) { value = "url" }
    /// Not a validation method, because its parameter has another type.
    func validateOwner(_ owner: Person) {}
  }

  private final class Joint: Account {
    override func validateBalance(_ value: inout Any?) throws {
      try super.validateBalance(&value)
      value = value.flatMap { $0 as? Int }.map { $0 * 2 }
    }
  }

  @KeyValueObservable
  private final class Box<Content: Hashable> {
    var content: Content?
    init(_ content: Content?) { self.content = content }
    func validateContent(_ value: inout Any?) throws {
      guard value is Content else { throw Refusal(key: "content") }
    }
    func value(forUndefinedKey key: String) -> Any? { "box" }
  }

  @MainActor
  @KeyValueObservable
  private final class View {
    var width = 0.0
    func validateWidth(_ value: inout Any?) throws {
      guard let width = value as? Double, width >= 0 else { throw Refusal(key: "width") }
    }
  }

  @Suite("Methods that classes override")
  struct HookTests {
    @Test func `A subclass provides values for undefined keys, also in the middle of a path`() {
      let person = Flexible("Ann")
      person.setValue(Person("Bob"), forKey: "pet")
      #expect((person.others["pet"] as? Person)?.name == "Bob")
      #expect(person.value(forKeyPath: "pet.name") as? String == "Bob")
      person.setValue("Rob", forKeyPath: "pet.name")
      #expect(person.value(forKeyPath: "pet.name") as? String == "Rob")
      #expect(person.value(forKey: "unset") == nil)
      #expect([person].value(forKeyPath: "@unionOfObjects.pet.name") as? [String] == ["Rob"])
    }

    @Test func `Key paths and operators use a class's override of value(forKey:) and setValue(_:forKey:)`() {
      let speaker = Speaker()
      let parts = [Speaker(), LoudSpeaker(), Whisperer()]
      speaker.parts = parts
      #expect(speaker.value(forKeyPath: "shout") as? String == "ANN")
      #expect(speaker.value(forKeyPath: "parts.name") as? [String] == ["<ann>", "<ann>", "psst"])
      #expect(speaker.value(forKeyPath: "parts.@distinctUnionOfObjects.name") as? [String] == ["<ann>", "psst"])
      #expect([parts[1], parts[2]].value(forKeyPath: "@sum.volume") as? Int == 22)
      #expect(
        speaker.dictionaryWithValues(forKeys: ["name", "shout"]) as? [String: String] == [
          "name": "<ann>", "shout": "ANN",
        ])
      speaker.setValue("BOB", forKeyPath: "parts.shout")
      #expect(parts.map(\.name) == ["bob", "bob", "bob!"])
      #expect((speaker as any KeyValueObservable).value(forKey: "name") as? String == "<ann>")
    }

    @Test func `Observers of string key paths receive the values of a class's override of value(forKey:)`() {
      let speaker = LoudSpeaker()
      #expect(speaker.changes(of: "name") { speaker.name = "bob" } == ["name <ann>><bob>"])
      #expect(speaker.changes(of: "shout") { speaker.name = "cid" } == ["shout BOB>CID"])
      let owner = Speaker()
      owner.parts = [speaker]
      #expect(owner.changes(of: "parts.@unionOfObjects.shout") { speaker.name = "dan" }.count == 1)
      #expect(refused { speaker.value(forKey: "nothing") }.map(\.code) == [9])
    }

    @Test func `An undefined key that the override passes to super is a fault`() {
      let person = Flexible("Ann")
      let raised = faults {
        _ = person.value(forKey: "nothing")
        person.setValue(1, forKey: "nothing")
        person.setValue(nil, forKey: "name")
      }
      #expect(raised.map(\.code) == [9, 9, 35])
    }

    @Test func `A subclass replaces nil by a value, set through the setter, which notifies once`() {
      let person = Flexible("Ann")
      #expect(person.changes(of: "age") { person.setValue(nil, forKey: "age") } == ["age 0>-1"])
    }

    @Test func `Keys that a subclass provides may be part of an observed path`() {
      let person = Flexible("Ann")
      let pet = Person("Bob")
      person.others["pet"] = pet
      #expect(person.changes(of: "pet.name") { pet.name = "Rob" } == ["pet.name Bob>Rob"])
    }

    @Test func `A subclass of the library's base class overrides them too`() async {
      await MainActor.run {
        let panel = Panel()
        #expect(panel.value(forKey: "x") as? String == "undefined x")
        panel.setValue(nil, forKey: "title")
        #expect(panel.title == "nil for title")
        #expect(faults { Window().setValue(nil, forKey: "title") }.map(\.code) == [35])
        #expect(faults { panel.setValue(1, forKey: "x") }.map(\.code) == [9])
      }
    }

    @Test func `observationInfo can be overridden`() {
      let person = Flexible("Ann")
      let base: Person = person
      #expect(base.observationInfo == nil && person.infoWasRead)
      let watcher = Watcher()
      person.addObserver(watcher, forKeyPath: "age")
      #expect(base.observationInfo != nil)
      person.removeObserver(watcher, forKeyPath: "age")
    }

    @Test func `validateValue calls the validation method of the key, which may throw or replace the value`() throws {
      let account = Account()
      var value: Any? = -5
      try account.validateValue(&value, forKey: "balance")
      #expect(value as? Int == 0)
      var bad: Any? = "much"
      #expect(throws: Refusal(key: "balance")) { try account.validateValue(&bad, forKey: "balance") }
      try account.validateValue(&bad, forKey: "URL")
      #expect(bad as? String == "url")
    }

    @Test func `A key without a validation method accepts every value, and setters do not validate`() throws {
      let account = Account()
      var value: Any? = 1
      try account.validateValue(&value, forKey: "owner")
      try account.validateValue(&value, forKey: "nothing")
      #expect(value as? Int == 1)
      account.setValue(-5, forKey: "balance")
      #expect(account.balance == -5)
    }

    @Test func `A subclass overrides the validation of one key, or of all`() throws {
      var value: Any? = 5
      try Joint().validateValue(&value, forKey: "balance")
      #expect(value as? Int == 10)
      try Flexible("Ann").validateValue(&value, forKey: "name")
      #expect(value as? String == "validated")
    }

    @Test func `The object at the end of a path validates its value; without an object every value is valid`() throws {
      let holder = Record()
      var value: Any? = -5
      try holder.validateValue(&value, forKeyPath: "any.balance")
      #expect(value as? Int == -5)
      holder.any = Account()
      try holder.validateValue(&value, forKeyPath: "any.balance")
      #expect(value as? Int == 0)
      try holder.validateValue(&value, forKeyPath: "person.friend.age")
      #expect(value as? Int == 0)
    }

    @Test func `Generic classes support them too`() throws {
      let box = Box(1)
      var value: Any? = "text"
      #expect(throws: Refusal(key: "content")) { try box.validateValue(&value, forKey: "content") }
      #expect(box.value(forKey: "nothing") as? String == "box")
      box.setValue("2", forKey: "content")
      #expect(box.content == 2)
      #expect(faults { box.setValue("two", forKey: "content") }.map(\.code) == [26])
      #expect(box.changes(of: "content") { box.setValue(nil, forKey: "content") } == ["content 2><null>"])
    }

    @MainActor
    @Test func `Classes of an actor support them too`() throws {
      let view = View()
      var value: Any? = -1.0
      #expect(throws: Refusal(key: "width")) { try view.validateValue(&value, forKey: "width") }
      #expect(view.changes(of: "width") { view.setValue(2, forKey: "width") } == ["width 0.0>2.0"])
      #expect(view.value(forKey: "width") as? Double == 2)
    }
  }
#endif
