// What is found by a weak reference while another thread releases the last other one.
#if Macros
  import Foundation
  import KeyValueObserving
  import Observation
  import Testing

  @KeyValueObservable
  private final class Announced: @unchecked Sendable {
    @NotObserved var number = 0
    init() {}
  }

  @Suite("The last reference to what several threads share")
  struct LastReferenceTests {
    /// Three threads do something for a second and a half.
    private static func repeated(_ body: @escaping @Sendable () -> Void) {
      let end = Date().addingTimeInterval(1.5)
      onThreads(3) { _ in
        while Date() < end { for _ in 0..<200 { body() } }
      }
    }

    @Test func `Trackings of one property begin and end on several threads`() async {
      await #expect(processExitsWith: .success) {
        let object = Announced()
        LastReferenceTests.repeated {
          withObservationTracking {
            _ = object.observed.number
          } onChange: {
          }
          object.willChangeValue(forKey: "number")
          object.didChangeValue(forKey: "number")
        }
      }
    }

    @Test func `Shared observers of one object are set and removed on several threads, and none is left`() async {
      await #expect(processExitsWith: .success) {
        let (document, watcher) = (Announced(), Watcher())
        let shared = NSKeyValueSharedObservers(observableClass: Announced.self)
        shared.addObserver(watcher, forKey: "number")
        let snapshot = shared.snapshot()
        LastReferenceTests.repeated {
          document.setSharedObservers(snapshot)
          document.setSharedObservers(nil)
        }
        precondition(document.observationInfo == nil)
        withExtendedLifetime(watcher) {}
      }
    }
  }
#endif
