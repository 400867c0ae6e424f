// What a fault knows about its source locations, and the handler of the process.
#if Macros
  import CKVO
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("A fault")
  struct FaultEvidenceTests {
    private func raised(in body: () -> Void) -> [KeyValueFault] {
      let raised = Log<KeyValueFault>()
      KeyValueFault.withHandler {
        raised.add($0)
        return .ignore
      } in: {
        body()
      }
      return raised.all
    }

    @Test("knows when and on which thread something happened that it refers to")
    func known() throws {
      let (document, listener) = (Document(), ClassicListener())
      document.addObserver(listener, forKeyPath: "title")
      document.removeObserver(listener, forKeyPath: "title")
      let fault = try #require(raised { document.removeObserver(listener, forKeyPath: "title") }.first)
      let removal = try #require(fault.sites.first)
      #expect(fault.kind == .removedTwice && removal.file == #fileID)
      #expect(removal.thread == fault.thread)
      #expect(removal.age != nil)
    }

    @Test("does not claim to know the time and the thread of a registration")
    func unknown() throws {
      let (document, other, listener) = (Document(), Document(), ClassicListener())
      other.addObserver(listener, forKeyPath: "title")
      let fault = try #require(raised { document.removeObserver(listener, forKeyPath: "title") }.first)
      let registration = try #require(fault.sites.first)
      #expect(fault.kind == .notRegistered && registration.file == #fileID)
      #expect(registration.thread == nil && registration.age == nil)
      other.removeObserver(listener, forKeyPath: "title")
    }

    @Test("has no file if the method that raises it has no parameter for that")
    func withoutFile() throws {
      let (setting, document) = (Setting(), Document())
      let fault = try #require(raised { setting.bind(.value, to: document, withKeyPath: "title..count") }.first)
      #expect(fault.kind == .malformedKeyPath && fault.file == nil)
    }

    @Test("is told to no handler of the process any more when that is set to nil")
    func noHandler() async {
      await #expect(processExitsWith: .success) {
        KeyValueFault.setHandler { _ in .ignore }
        precondition(kvo_get_fault_handler(nil) != nil)
        KeyValueFault.setHandler(nil)
        precondition(kvo_get_fault_handler(nil) == nil)
      }
    }
  }

  @KeyValueObservable
  private final class Setting: KeyValueObject {
    var value = 0
  }
#endif
