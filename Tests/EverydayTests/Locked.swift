// A model that several threads use.
#if Macros
  import Foundation
  import KeyValueObserving

  /// A value behind a lock, announced by hand.
  @KeyValueObservable
  final class Locked: @unchecked Sendable {
    @NotObserved private let lock = NSLock()  // not a Mutex, which ThreadSanitizer does not know
    @NotObserved private var stored = 0
    var value: Int {
      get { lock.withLock { stored } }
      set {
        willChangeValue(for: \.value)
        lock.withLock { stored = newValue }
        didChangeValue(for: \.value)
      }
    }

    init() {}
  }
#endif
