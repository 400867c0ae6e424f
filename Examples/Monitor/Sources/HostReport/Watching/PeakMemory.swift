// The peak of used memory, recorded by a classic observer: a string key path and one callback method.
import Foundation
import HostModel
import KeyValueObserving
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

  func begin(observing host: Machine) {
    host.addObserver(self, forKeyPath: Self.keyPath, options: [.initial, .new])
  }

  /// Ends the observation. A classic observer has to be removed before it or the object is deallocated.
  func end(observing host: Machine) { host.removeObserver(self, forKeyPath: Self.keyPath) }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.notified()
    // If the memory is unknown, the new value is NSNull, not a number.
    guard let fraction = change?[.newKey] as? Double, let memory = (object as? Machine)?.memory else { return }
    let bytes = memory.used
    highest.withLock { highest in
      if fraction > highest?.fraction ?? -1 { highest = Peak(bytes: bytes, fraction: fraction) }
    }
  }
}
