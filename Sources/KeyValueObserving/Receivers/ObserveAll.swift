// Observation of every key of an object.

import CKVO
import Foundation

extension KeyValueObservable {
  /// Observes every property of the object on behalf of a receiver.
  ///
  /// ```swift
  /// document.observeAll(for: self) { me, document, key, change in print(key, change.newValue ?? "-") }
  /// ```
  /// Stored and computed properties are observed, of the class and of its superclasses, each as if by its own key path: a change of a
  /// property that two computed ones depend on calls the handler three times. Properties that are `@NotObserved`, and computed ones of
  /// extensions, are not observed; neither are keys that are only announced by hand. Otherwise see
  /// ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``. An addition of this library, like the signal `notify` of GObject.
  ///
  /// - Parameters:
  ///   - options: Which values a change includes.
  ///   - receiver: Any class instance. It is not retained.
  ///   - userInfo: Anything that reports and the graph show with the observations.
  ///   - handler: The closure to call with the receiver, the object, the key and the change. The change's values are those of
  ///     ``value(forKey:)``.
  /// - Returns: The token, whose release ends nothing.
  @discardableResult
  public func observeAll<Receiver: AnyObject>(
    options: NSKeyValueObservingOptions = [.old, .new], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Receiver, Self, String, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    typealias Told = (key: String, change: NSKeyValueObservedChange<Any>)
    let (reference, object) = (ReceiverReference(receiver), UnretainedObject(self))
    reference.end.endsTogether = false  // a key is ended by itself
    let handle: (Told) -> Void = { told in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, told.key, told.change)
    }
    let delivery = isolation.map {
      ActorDelivery<Told>($0, reference.end, expectsInitial: false) { handle($0.newValue!) }
    }
    let tell: (Told) -> Void =
      delivery.map { delivery in { delivery.deliver(NSKeyValueObservedChange(kind: .setting, newValue: $0)) } }
      ?? handle
    let site = SourceLocation(file: fileID, line: line)
    let note = note(isolation.map(deliveryName), userInfo)
    let description = ObserverDescription(
      receiver: receiver, note: note, evaluator: delivery?.gate.evaluator, end: reference.end)
    let keys = observableKeys
    if let first = keys.first, isDistinctRefused(first, options, site) { return reference.token([], of: receiver) }
    var observations: [UInt64] = []
    for key in keys {
      let relay = KeyRelay(description) { _, change in tell((key, NSKeyValueObservedChange(change))) }
      observations.append(observe(key, options, site, relay))
      // It was refused, or has ended in its initial call: then so do the others.
      guard kvo_observation_is_registered(observations.last!) else {
        for observation in observations { kvo_cancel_observer(observation) }
        break
      }
    }
    return reference.token(observations, of: receiver)
  }
}

extension KeyValueObservable {
  /// The keys of the properties that can notify.
  private nonisolated var observableKeys: [String] {
    if let object = self as? KeyValueRuntimeObject { return object.keys }
    return KeyValueClass.of(self).properties.filter { $0.isStored || ($0.isComputed && !$0.isWrapped) || $0.isWeak }
      .map(\.name)
  }

  /// Observes one key.
  private nonisolated func observe(
    _ key: String, _ options: NSKeyValueObservingOptions, _ site: SourceLocation, _ relay: KeyRelay
  ) -> kvo_observation {
    let cls = KeyValueClass.of(self)
    let property = cls.property(named: key)
    let isStored = property?.isDirect ?? (self is KeyValueRuntimeObject)
    let isDirect = isStored && !cls.isAffected(keyHash(key)) && !cls.answersKeysItself
    let observation = ClassicObservation(
      observer: relay, object: self, keyPath: key, context: nil, options: options, site: site,
      evaluating: isDirect ? nil : [key], relay: relay)
    return observation.register(with: adoptedObject, key: isDirect ? keyHash(key) : nil, endsWithObject: true)
  }
}
