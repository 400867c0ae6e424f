// The description of a class: asked for once, and registered once with the runtime that C uses.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  /// Written without the macro, to count the questions.
  private final class Asked: KeyValueObservable {
    let _$kvo = KeyValueObservationHeader()
    let title = "t"
    static nonisolated(unsafe) var questions = 0

    var __keyValueObject: KeyValueObjectReference { _$kvo.reference }
    static func __describeKeyValueProperties(_ description: KeyValueClassDescription) {
      questions += 1
      description.stored("title", \Asked.title)
    }
  }

  @KeyValueObservable
  private final class Gate {
    var isOpen = false
  }

  @KeyValueObservable
  private final class SetOfGates {
    var _open: Set<Int> = []
  }

  @Suite("The description of a class")
  struct ClassDescriptionTests {
    @Test func `A class is asked once for its properties`() {
      for _ in 0..<3 {
        #expect(Asked().value(forKey: "title") as? String == "t")
        #expect(Asked.keyPathsForValuesAffectingValue(forKey: "title").isEmpty)
        #expect(Asked.automaticallyNotifiesObservers(forKey: "title"))
      }
      #expect(Asked.questions == 1)
    }

    @Test func `A key stands for a property also if the program has no other class`() async {
      await #expect(processExitsWith: .success) {
        let gate = Gate()
        let changes = gate.changes(of: "isOpen") {
          gate.willChangeValue(forKey: "open")
          gate.didChangeValue(forKey: "open")
        }
        precondition(changes == ["isOpen false>false"])
      }
    }

    @Test func `An announcement may be the first use of a class whose property has another key, too`() async {
      await #expect(processExitsWith: .success) {
        KeyValueFault.withHandler { _ in
          fatalError("a fault")
        } in: {
          let gate = Gate()
          gate.willChangeValue(forKey: "open")
          let token = gate.observe(\.isOpen) { _, _ in fatalError("told") }
          gate.didChangeValue(forKey: "open")
          token.invalidate()
        }
      }
      await #expect(processExitsWith: .success) {
        KeyValueFault.withHandler { _ in
          fatalError("a fault")
        } in: {
          let gate = SetOfGates()
          gate.willChangeValue(forKey: "open", withSetMutation: .union, using: [1])
          let token = gate.observe(\._open) { _, _ in fatalError("told") }
          gate.didChangeValue(forKey: "open", withSetMutation: .union, using: [1])
          token.invalidate()
        }
      }
    }

    @Test func `All objects of a class have the same class in C`() {
      let (one, other) = (Record(), Record())
      #expect(kvo_object_class(one.keyValueObject) == kvo_object_class(other.keyValueObject))
    }

    @Test func `C gets no element behind the last one of a Swift array`() {
      let record = Record()
      record.numbers = [1, 2]
      var status = KVO_OK
      let read = kvo_get_value(
        record.keyValueObject, "numbers",
        { value, result in
          guard let list = kvo_value_collection(value) else { return }
          let refusal = list.pointee.element(list, list.pointee.count, { _, _ in }, nil)
          result!.storeBytes(of: refusal, as: kvo_status.self)
        }, &status)
      #expect(read == KVO_OK)
      #expect(status == KVO_ERROR_OUT_OF_RANGE)
    }
  }
#endif
