// The search for the property of a key: its name, or a name that Apple's search would find.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @KeyValueObservable
  private class Door {
    var isOpen = false
    var _hidden = 1
    var _isLocked = false
    var isURL = false
    var island = "i"
    /// The exact name has precedence.
    var name = "exact"
    var isName = "getter"
    /// The getter name has precedence over the instance variable name.
    var isNew = "getter"
    var _new = "variable"
    var log: [Int] = []

    class var keyPathsForValuesAffectingOpen: Set<String> { ["log"] }
  }

  private final class Safe: Door {
    override class var accessInstanceVariablesDirectly: Bool { false }
  }

  @Suite("The search for a key")
  struct KeySearchTests {
    private let door = Door()

    @Test func `A property isOpen is read, set and observed by the key open`() {
      #expect(door.value(forKey: "open") as? Bool == false)
      let changes = door.changes(of: "open") {
        door.setValue(true, forKey: "open")
        door.isOpen = false
      }
      #expect(changes == ["open false>true", "open true>false"])
      #expect(door.observationInfo == nil)
    }

    @Test func `Observers of both names receive the same change`() {
      var inner: [String] = []
      let outer = door.changes(of: "isOpen") { inner = door.changes(of: "open") { door.isOpen = true } }
      #expect(outer == ["isOpen false>true"] && inner == ["open false>true"])
    }

    @Test func `Both names work in a key path`() {
      let record = Record()
      record.any = door
      #expect(record.changes(of: "any.open") { door.isOpen = true } == ["any.open false>true"])
    }

    @Test func `A change announced by one name notifies the observers of the other`() {
      let changes = door.changes(of: "isOpen") {
        door.willChangeValue(forKey: "open")
        door.didChangeValue(forKey: "open")
      }
      #expect(changes == ["isOpen false>false"])
    }

    @Test func `Dependencies declared for one name hold for the other`() {
      #expect(door.changes(of: "isOpen") { door.log = [1] }.count == 1)
      #expect(door.changes(of: "open") { door.log = [1] }.count == 1)
    }

    @Test func `Properties _hidden and _isLocked are found by the keys hidden and locked`() {
      #expect(door.changes(of: "hidden") { door.setValue(2, forKey: "hidden") } == ["hidden 1>2"])
      #expect(door._hidden == 2)
      #expect(door.value(forKey: "locked") as? Bool == false)
    }

    @Test func `accessInstanceVariablesDirectly false disables these keys, but not those of getters`() {
      let safe = Safe()
      #expect(refused { safe.value(forKey: "hidden") }.map(\.code) == [9])
      #expect(faults { safe.setValue(1, forKey: "locked") }.map(\.code) == [9])
      #expect(safe.value(forKey: "open") as? Bool == false)
      #expect(safe.value(forKey: "_hidden") as? Int == 1)
    }

    @Test func `The search order is the name, is<Key>, _<key>`() {
      #expect(door.value(forKey: "name") as? String == "exact")
      #expect(door.value(forKey: "new") as? String == "getter")
    }

    @Test func `Only the first letter of a key is capitalized`() {
      #expect(door.value(forKey: "URL") as? Bool == false && door.value(forKey: "uRL") as? Bool == false)
      #expect(refused { door.value(forKey: "url") }.count == 1)
      #expect(refused { door.value(forKey: "land") }.count == 1)
    }
  }
#endif
