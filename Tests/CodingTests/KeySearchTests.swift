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

  @KeyValueObservable
  private final class Gate {
    var isOpen = false
    var _visitors: Set<Int> = []
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

    @Test func `Dependencies declared for one name hold for the other`() {
      #expect(door.changes(of: "isOpen") { door.log = [1] }.count == 1)
      #expect(door.changes(of: "open") { door.log = [1] }.count == 1)
    }

    @Test
    func `accessInstanceVariablesDirectly false disables the keys of names with an underscore, not those of getters`() {
      let safe = Safe()
      #expect(refused { safe.value(forKey: "hidden") }.map(\.code) == [9])
      #expect(faults { safe.setValue(1, forKey: "locked") }.map(\.code) == [9])
      #expect(safe.value(forKey: "open") as? Bool == false)
      #expect(safe.value(forKey: "_hidden") as? Int == 1)
    }

    @Test func `The search order is the name, is<Key>, _<key>, _is<Key>`() {
      #expect(door.value(forKey: "name") as? String == "exact")
      #expect(door.value(forKey: "new") as? String == "getter")
      #expect(door.changes(of: "hidden") { door.setValue(2, forKey: "hidden") } == ["hidden 1>2"])
      #expect(door.value(forKey: "locked") as? Bool == false)
    }

    @Test func `An announcement by another key may be the first use of a class`() async {
      await #expect(processExitsWith: .success) {
        let gate = Gate()
        let changes = gate.changes(of: "isOpen") {
          gate.willChangeValue(forKey: "open")
          gate.didChangeValue(forKey: "open")
        }
        precondition(changes == ["isOpen false>false"])
      }
      await #expect(processExitsWith: .success) {
        KeyValueFault.withHandler { _ in
          fatalError("a fault")
        } in: {
          let gate = Gate()
          gate.willChangeValue(forKey: "visitors", withSetMutation: .union, using: [1])
          let token = gate.observe(\._visitors) { _, _ in fatalError("notified") }
          gate.didChangeValue(forKey: "visitors", withSetMutation: .union, using: [1])
          token.invalidate()
        }
      }
    }
  }
#endif
