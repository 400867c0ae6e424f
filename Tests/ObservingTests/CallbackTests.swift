// What classic observers are told and may do in their callback, and changes announced by another name of a key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Passes each change to its superclass twice, which does not handle it.
  private final class PassingTwice: KeyValueObject {
    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      for _ in 0..<2 { super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context) }
    }
  }

  /// Removes itself in its first callback.
  private final class Leaving: KeyValueObserver {
    let log: Log
    init(_ log: Log) { self.log = log }

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      log.add("\(change?[.newKey] ?? "-")")
      (object as? Document)?.removeObserver(self, forKeyPath: keyPath!)
    }
  }

  /// Announces its property by hand.
  @KeyValueObservable
  private final class Bench: KeyValueObject {
    @NotObserved var height = 0
  }

  /// Provides any key, and counts how often it is asked.
  @KeyValueObservable
  private final class Attic {
    var title = ""
    @NotObserved var asked = 0

    func value(forUndefinedKey key: String) -> Any? {
      asked += 1
      return asked
    }
  }

  /// Announces states that it does not override.
  @KeyValueObservable
  private final class Step: Operation, @unchecked Sendable {
    var progress = 0
  }

  @Suite("Classic callbacks and other names of keys")
  struct CallbackTests {
    let document = Document()
    let log = Log()

    /// Returns the faults of a body.
    private func faults(_ body: () -> Void) -> [KeyValueFault] {
      nonisolated(unsafe) var faults: [KeyValueFault] = []
      KeyValueFault.withHandler {
        faults.append($0)
        return .ignore
      } in: {
        body()
      }
      return faults
    }

    @Test func `Each fault that a callback raises names its observation, with the ID that the graph has`() {
      let passing = PassingTwice()
      document.addObserver(passing, forKeyPath: "title")
      let registered = #line - 1
      let known = ObservationGraph.current().observations.filter {
        $0.registeredAt?.file == "ObservingTests/CallbackTests.swift" && $0.registeredAt?.line == registered
      }
      let raised = faults { document.title = "a" }
      document.removeObserver(passing, forKeyPath: "title")
      #expect(raised.map(\.code) == [22, 22])
      #expect(raised.map { $0.observations.map(\.keyPath) } == [["title"], ["title"]])
      let id = String(known.first?.id.rawValue ?? 0, radix: 16)
      #expect(known.count == 1 && raised.allSatisfy { $0.json.contains("\"id\":\"0x\(id)\"") })
    }

    @Test func `With collectionChanges a set to equal elements is told as a setting`() {
      let watcher = Watcher(log)
      document.addObserver(watcher, forKeyPath: "pages", options: [.new, .collectionChanges])
      document.pages = [1]
      document.pages = [1]
      document.removeObserver(watcher, forKeyPath: "pages")
      #expect(log.lines == ["pages ->[1] insertion at [0]", "pages ->[1]"])
    }

    @Test func `An observer that removes itself between two changes of elements is not told the second`() {
      let leaving = Leaving(log)
      document.pages = [1, 2]
      document.addObserver(leaving, forKeyPath: "pages", options: [.new, .collectionChanges])
      document.pages = [3, 4, 5]
      #expect(log.lines == ["[3, 4]"])
      #expect(document.observationInfo == nil)
    }

    @Test func `A key that the class does not have is not asked for at registration, if no initial value is wanted`() {
      let (attic, watcher) = (Attic(), Watcher(log))
      attic.addObserver(watcher, forKeyPath: "trunk", options: [.new])
      #expect(attic.asked == 0)
      attic.willChangeValue(forKey: "trunk")
      attic.didChangeValue(forKey: "trunk")
      attic.removeObserver(watcher, forKeyPath: "trunk")
      #expect(log.lines.count == 1 && attic.asked > 0)
    }

    @Test func `A subclass of KeyValueObject announces changes by hand`() {
      let (bench, watcher) = (Bench(), Watcher(log))
      bench.addObserver(watcher, forKeyPath: "height", options: [.old, .new])
      let raised = faults {
        bench.willChangeValue(forKey: "height")
        bench.height = 2
        bench.didChangeValue(forKey: "height")
      }
      bench.removeObserver(watcher, forKeyPath: "height")
      #expect(log.lines == ["height 0>2"] && raised.isEmpty)
    }

    @Test func `A change that is announced by another key of a property notifies the observers of the property`() {
      let token = document.log(\.isFavorite, [], to: log)
      document.willChangeValue(forKey: "favorite")
      document.didChangeValue(forKey: "favorite")
      #expect(log.lines == ["->-"])
      token.invalidate()
    }

    @Test func `An operation's state is announced with a key path of Foundation's class`() {
      let (step, watcher) = (Step(), Watcher(log))
      step.addObserver(watcher, forKeyPath: "isCancelled", options: [.new])
      step.cancel()
      KeyValueOperationAnnouncement(step, isDone: false).callAsFunction(for: \Operation.isCancelled)
      KeyValueOperationAnnouncement(step, isDone: true).callAsFunction(for: \Operation.isCancelled)
      step.removeObserver(watcher, forKeyPath: "isCancelled")
      #expect(log.lines == ["isCancelled ->true"])
    }
  }
#endif
