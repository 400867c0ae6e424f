// What an observation says about its observer: for reports, the graph, and removal by observer.

import CKVO

/// The observer of an observation made with a closure.
@usableFromInline
struct ObserverDescription {
  let identity: ObserverIdentity?
  let receiver: UnretainedObject<AnyObject>?
  /// What reports and the graph say in addition, such as the queue that delivers.
  let note: String?
  /// The actor on which an expression is evaluated; `nil` for the thread that makes the change.
  var evaluator: ActorGate?
  /// Whether the observer reads the key path when it is called. So it is called only where the path may be read.
  var readsAgain = false
  /// What the handler sets, if the observation is that of a binding.
  private(set) var sets: BoundKey?
  /// The end of an observation that may be paused, for what remembers its values.
  @usableFromInline let end: ObservationEnd?

  /// Describes a receiver, if there is one.
  @usableFromInline
  init(
    receiver: AnyObject?, note: String?, evaluator: ActorGate? = nil, sets: BoundKey? = nil, end: ObservationEnd? = nil
  ) {
    identity = receiver.map { ObserverIdentity($0) }
    self.receiver = receiver.map { UnretainedObject($0) }
    self.note = note
    self.evaluator = evaluator
    self.sets = sets
    self.end = end
  }

  /// The description of the same observer if it reads the key path when it is called.
  var readingAgain: ObserverDescription {
    var description = self
    description.readsAgain = true
    return description
  }

  /// The description of a binding for the same observer.
  func setting(_ key: BoundKey) -> ObserverDescription {
    var description = self
    description.sets = key
    return description
  }

  /// The same for C. Valid while the strings are.
  struct InC {
    let identity: kvo_observer_identity
    let note: UnsafePointer<CChar>?
    let isReceiver: Bool
    /// Not for C: see `ObserverDescription`.
    let evaluator: ActorGate?
    let readsAgain: Bool
    var sets: BoundKey?

    static nonisolated(unsafe) let none = InC(
      identity: .init(), note: nil, isReceiver: false, evaluator: nil, readsAgain: false)
  }

  static func withC<Result>(_ described: ObserverDescription?, _ body: (InC) -> Result) -> Result {
    guard let described else { return body(.none) }
    func withNote(_ identity: kvo_observer_identity, _ isReceiver: Bool) -> Result {
      withOptionalCString(described.note) { note in
        body(
          InC(
            identity: identity, note: note, isReceiver: isReceiver, evaluator: described.evaluator,
            readsAgain: described.readsAgain, sets: described.sets))
      }
    }
    guard let observer = described.identity else { return withNote(.init(), false) }
    return observer.className.withCString {
      withNote(kvo_observer_identity(class_name: $0, address: observer.address), true)
    }
  }
}

/// The property that the handler of a binding's observation sets: the runtime settles the bindings that read it afterwards.
@usableFromInline
struct BoundKey {
  /// `nil` for an object that is not observable. It is only compared.
  let object: KeyValueObjectReference?
  let key: UInt64

  @usableFromInline
  init(_ target: AnyObject, _ name: String) {
    let observable = target as? any KeyValueObservable
    object = observable?.adoptedObject
    key = observable?.keyOfChanges(of: name) ?? 0
  }
}
