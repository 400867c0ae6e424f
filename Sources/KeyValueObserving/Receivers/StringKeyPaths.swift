// What observes a string key path for a closure.

import CKVO
import Foundation

/// The observer of a string key path, on behalf of a receiver.
final class KeyRelay: KeyValueObserver {
  let receiver: ObserverDescription
  private let tell: (_ object: Any?, _ change: [NSKeyValueChangeKey: Any]) -> Void

  init(_ receiver: ObserverDescription, _ tell: @escaping (Any?, [NSKeyValueChangeKey: Any]) -> Void) {
    self.receiver = receiver
    self.tell = tell
  }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    if let change { tell(object, change) }
  }
}

extension NSKeyValueObservedChange<Any> {
  /// The change that a dictionary describes.
  init(_ change: [NSKeyValueChangeKey: Any]) {
    self.init(
      kind: (change[.kindKey] as? UInt).flatMap(NSKeyValueChange.init) ?? .setting, newValue: change[.newKey],
      oldValue: change[.oldKey], indexes: change[.indexesKey] as? IndexSet,
      isPrior: change[.notificationIsPriorKey] as? Bool ?? false)
  }
}
