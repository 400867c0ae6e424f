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
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      if key == "name" { value = "validated" } else { try super.validateValue(&value, forKey: key) }
    }
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
    func validateBalance(_ value: inout Any?) throws { value = (value as? Int).map { max($0, 0) } }
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

  /// Takes each value as it was given.
  @KeyValueObservable
  private final class Keeper {
    var kept: Int?
    @NotObserved var given: Any?
    func setValue(_ value: Any?, forKey key: String) { given = value }
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
    @Test func `A subclass provides values for undefined keys, also in the middle of a path, which is observed`() {
      let person = Flexible("Ann")
      person.setValue(Person("Bob"), forKey: "pet")
      #expect((person.others["pet"] as? Person)?.name == "Bob")
      #expect(person.changes(of: "pet.name") { person.setValue("Rob", forKeyPath: "pet.name") } == ["pet.name Bob>Rob"])
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
      // The class answers without reading the property.
      #expect(speaker.changes(of: "volume") { speaker.volume = 2 } == ["volume 11>11"])
      #expect(refused { speaker.value(forKey: "nothing") }.map(\.code) == [9])
    }

    @Test func `An override of setValue(_:forKey:) gets the value as it was given`() {
      let keeper = Keeper()
      keeper.setValue(Int?.some(5) as Any, forKeyPath: "kept")
      #expect(keeper.given.map { type(of: $0) == Int?.self } == true)
      keeper.setValuesForKeys(["kept": NSNull()])
      #expect(keeper.given == nil)
    }

    @Test func `An undefined key that the override passes to super is a fault`() {
      let person = Flexible("Ann")
      let raised = faults {
        _ = person.value(forKey: "nothing")
        person.setValue(1, forKey: "nothing")
        person.setValue(nil, forKey: "name")
      }
      #expect(raised.map(\.code) == [9, 9, 35])
      #expect(raised[2].help == "override setNilValueForKey(_:) to set another value for nil")
    }

    @Test func `A subclass of KeyValueObject on an actor overrides the methods of key-value coding`() async {
      await MainActor.run {
        let panel = Panel()
        #expect(panel.value(forKey: "x") as? String == "undefined x")
        panel.setValue(nil, forKey: "title")
        #expect(panel.title == "nil for title")
        #expect(faults { Window().setValue(nil, forKey: "title") }.map(\.code) == [35])
        #expect(faults { panel.setValue(1, forKey: "x") }.map(\.code) == [9])
      }
    }

    @Test func `A subclass overrides the validation of one key, or of all`() throws {
      var value: Any? = 5
      try Joint().validateValue(&value, forKey: "balance")
      #expect(value as? Int == 10)
      try Flexible("Ann").validateValue(&value, forKey: "name")
      #expect(value as? String == "validated")
    }

    @Test func `A generic class may have validation methods and provide undefined keys`() throws {
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
    @Test func `A class of the main actor may have validation methods, and is set and observed by key`() throws {
      let view = View()
      var value: Any? = -1.0
      #expect(throws: Refusal(key: "width")) { try view.validateValue(&value, forKey: "width") }
      #expect(view.changes(of: "width") { view.setValue(2, forKey: "width") } == ["width 0.0>2.0"])
      #expect(view.value(forKey: "width") as? Double == 2)
    }
  }
#endif
