// The registration of an observation of a string key path with a receiver.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Registers a handler of changes for a receiver.
  ///
  /// - Parameter actor: The actor on which the handler is called, or `nil` for the thread that makes the change.
  nonisolated func receive<Receiver: AnyObject>(
    path: String, _ options: NSKeyValueObservingOptions, for receiver: Receiver, on actor: (any Actor)?,
    _ site: SourceLocation, userInfo: (any Sendable)?,
    _ handler: @escaping (Receiver, Self, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    guard let actor else {
      let description = ObserverDescription(receiver: receiver, note: note(nil, userInfo))
      let relay = KeyRelay(description) { object, change in
        guard let receiver = reference.load() else { return }
        handler(receiver, object as! Self, NSKeyValueObservedChange(change))
      }
      return reference.token(add(.receiver(relay), path, options, nil, site), of: receiver)
    }
    let object = UnretainedObject(self)
    let delivery = ActorDelivery<Any>(actor, reference.end, expectsInitial: options.contains(.initial)) { change in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, change)
    }
    let description = ObserverDescription(
      receiver: receiver, note: note(deliveryName(actor), userInfo), evaluator: delivery.gate.evaluator)
    let relay = KeyRelay(description) { _, change in delivery.deliver(NSKeyValueObservedChange(change)) }
    return reference.token(add(.receiver(relay), path, options, nil, site), of: receiver)
  }
}

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
