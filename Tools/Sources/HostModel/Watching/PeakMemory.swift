import Foundation
import KeyValueObserving
// The highest use of memory, noted by an observer of the classic kind: a key path as a string, one central callback.
import Synchronization

final class PeakMemory: Sendable {
  struct Peak: Equatable {
    let bytes: Int64
    let fraction: Double
  }

  private let journal: Journal
  private let highest = Mutex<Peak?>(nil)

  init(_ journal: Journal) { self.journal = journal }

  var peak: Peak? { highest.withLock { $0 } }
}

extension PeakMemory: KeyValueObserver {
  private static let keyPath = "memory.usedFraction"

  func begin(observing host: Host) {
    host.addObserver(self, forKeyPath: Self.keyPath, options: [.initial, .new])
  }

  /// Has to come before either dies: that is the contract of this kind.
  func end(observing host: Host) { host.removeObserver(self, forKeyPath: Self.keyPath) }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.notified()
    // Without memory the new value is NSNull, which is no number.
    guard let fraction = change?[.newKey] as? Double, let memory = (object as? Host)?.memory else { return }
    let bytes = memory.used
    highest.withLock { highest in
      if fraction > highest?.fraction ?? -1 { highest = Peak(bytes: bytes, fraction: fraction) }
    }
  }
}
