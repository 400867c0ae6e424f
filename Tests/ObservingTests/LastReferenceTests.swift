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

  private final class Silent: NSObject, KeyValueObserver {
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }

  @Suite("The last reference to what several threads share")
  struct LastReferenceTests {
    /// Threads that do something for a second and a half.
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

    @Test func `Shared observers of one object are set and removed on several threads`() async {
      await #expect(processExitsWith: .success) {
        let (document, observer) = (Announced(), Silent())
        let shared = NSKeyValueSharedObservers(observableClass: Announced.self)
        shared.addObserver(observer, forKey: "number")
        let snapshot = shared.snapshot()
        LastReferenceTests.repeated {
          document.setSharedObservers(snapshot)
          document.setSharedObservers(nil)
        }
        withExtendedLifetime(observer) {}
      }
    }
  }
#endif
