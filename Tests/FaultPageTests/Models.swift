// The classes of the examples in Documentation/Faults, as shown in its README.
#if Macros
  import Foundation
  import KeyValueObserving

  // page: README classes
  @KeyValueObservable
  class Document: @unchecked Sendable {
    var title = "Untitled"
    var pages = 0
    var author: Author?
    var chapters: [Chapter] = []
    var notes: [String]?
    @NotObserved var draft = 0
    class var automaticallyNotifiesObserversOfDraft: Bool { false }  // announced by hand
  }

  @KeyValueObservable
  class Author: @unchecked Sendable {
    var name = ""
    var books = 0
  }

  @KeyValueObservable
  class Chapter {
    var title = ""
  }

  /// An observer of the classic kind.
  class Panel: KeyValueObserver {
    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }
  // page end

  /// Runs an example's code on another thread and waits for it; its faults are recorded with those of the example.
  func onAnotherThread(_ body: @escaping () -> Void) {
    let (work, recorder, done) = (UnsafeWork(body: body), Recorder.current, DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      _ = recorder?.record(work.body)
      done.signal()
    }
    done.wait()
  }

  private struct UnsafeWork: @unchecked Sendable { let body: () -> Void }
#endif
