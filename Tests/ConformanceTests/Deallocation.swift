// Sections Q and R of Documentation/AppleCompatibility.md: faults with Apple's exceptions, and deallocation.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// An observer that handles no change.
  private final class Deaf: KeyValueObject {}

  /// Calls a function in deinit.
  @KeyValueObservable
  private final class Dying {
    var v = 0
    @NotObserved var atEnd: (Dying) -> Void = { _ in }
    deinit { atEnd(self) }
  }

  @Suite("Q, R. Exceptions and deallocation")
  struct Deallocation {
    let t = T()
    let w = Watcher()

    @Test func `269, 270: A change that no class handled is a fault`() {
      let deaf = Deaf()
      t.addObserver(deaf, forKeyPath: "v", options: [.new], context: nil)
      #expect(
        sentences { t.v = 1 } == [
          "NSInternalInconsistencyException <Deaf: 0xPTR>: An -observeValueForKeyPath:ofObject:change:context: message was "
            + "received but not handled.\nKey path: v\nObserved object: <T: 0xPTR>\nChange: {\n    kind = 1;\n}\nContext: 0xPTR"
        ])
      t.removeObserver(deaf, forKeyPath: "v")
    }

    @Test func `282: A Swift key path that is not a single property of the class cannot be announced`() {
      let raised = sentences { t.willChangeValue(for: \.child?.v) }
      #expect(raised.count == 1)
      #expect(raised.first?.hasPrefix("NSUnknownKeyException Could not extract a String from KeyPath ") == true)
    }

    @Test(arguments: ["v", "child.v"])
    func `281, 286, 288: Deallocation while observed is always a fault, and ends the observations`(path: String) {
      var dying: T? = T()
      let child = T()
      dying?.child = child
      dying?.add(w, path)
      let raised = sentences { dying = nil }
      #expect(raised.count == 1)
      #expect(
        raised.first?.hasPrefix(
          "NSInternalInconsistencyException An instance 0xPTR of class T was deallocated while key value observers were still "
            + "registered with it. Current observation info: ") == true)
      child.v = 1
      #expect(w.lines.isEmpty && child.observationInfo == nil)
    }

    @Test func `292, 293: The check follows the object's own deinit, which may remove observers in time`() {
      var dying: Dying? = Dying()
      dying?.add(w, "v")
      dying?.atEnd = { [w] in $0.remove(w, "v") }
      #expect(codes { dying = nil } == [])
      dying = Dying()
      dying?.add(w, "v")
      dying?.add(w, "v", [], ctx: 1)
      dying?.atEnd = { [w] in $0.remove(w, "v", ctx: 1) }
      let raised = faults { dying = nil }
      #expect(raised.map(\.code) == [1] && raised.first?.observations.count == 1)
    }

    @Test func `295: An observer deallocated while registered is reported at the next change, and is not called`() {
      var observer: Watcher? = Watcher()
      let log = observer!.log
      t.add(observer!, "v")
      #expect(codes { observer = nil } == [])
      #expect(codes { t.v = 1 } == [4])
      #expect(codes { t.v = 2 } == [])
      observer = Watcher("", log)
      t.add(observer!, "manual")
      let betweenWillAndDid = codes {
        t.willChangeValue(forKey: "manual")
        observer = nil
        t.didChangeValue(forKey: "manual")
      }
      #expect(betweenWillAndDid == [4] && log.lines.isEmpty && t.observationInfo == nil)
    }
  }
#endif
