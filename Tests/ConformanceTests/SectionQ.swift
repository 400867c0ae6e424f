// Section Q of Documentation/AppleCompatibility.md: the faults with Apple's exception names and messages.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// An observer that handles no change.
  private final class Deaf: KeyValueObject {}

  @Suite("Q. Exceptions and their messages")
  struct SectionQ {
    let t = T()
    let w = Watcher()

    /// Returns the only fault of a body, as exception and message.
    private func fault(_ body: () -> Void) -> String {
      let all = faults(body)
      return all.count == 1 ? appleText(all[0]) : "\(all.count) faults"
    }

    @Test func `265: Removal of an observer that is not registered`() {
      #expect(
        fault { t.remove(w, "v") }
          == "NSRangeException Cannot remove an observer <Watcher 0xPTR> for the key path \"v\" from <T 0xPTR> because it is "
          + "not registered as an observer.")
    }

    @Test func `268: An undefined key at registration`() {
      #expect(
        fault { t.add(w, "nothing", [.initial, .new]) }
          == "NSUnknownKeyException [<T 0xPTR> addObserver:<Watcher 0xPTR> forKeyPath:@\"nothing\" options:5 context:0xPTR] "
          + "was sent to an object that is not KVC-compliant for the \"nothing\" property.")
    }

    @Test func `269, 270: A change that no class handled`() {
      let deaf = Deaf()
      t.addObserver(deaf, forKeyPath: "v", options: [.new], context: nil)
      #expect(
        fault { t.v = 1 }
          == "NSInternalInconsistencyException <Deaf: 0xPTR>: An -observeValueForKeyPath:ofObject:change:context: message was "
          + "received but not handled.\nKey path: v\nObserved object: <T: 0xPTR>\nChange: {\n    kind = 1;\n}\nContext: 0xPTR"
      )
      t.removeObserver(deaf, forKeyPath: "v")
    }

    @Test func `282: A Swift key path that is not a single property of the class`() {
      let name = fault { t.willChangeValue(for: \.child?.v) }
      #expect(name.hasPrefix("NSUnknownKeyException Could not extract a String from KeyPath "))
    }

    @Test func `281, 286: Deallocation while observed`() {
      var dying: T? = T()
      dying?.add(w, "v")
      #expect(
        fault { dying = nil }.hasPrefix(
          "NSInternalInconsistencyException An instance 0xPTR of class T was deallocated while key value observers were still "
            + "registered with it. Current observation info: "))
    }
  }
#endif
