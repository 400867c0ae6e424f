// What an observation says about its observer: for reports, the graph, and removal by observer.

import CKVO

/// The observer of an observation made with a closure.
@usableFromInline
struct ObserverDescription {
  let identity: ObserverIdentity?
  /// What reports and the graph say in addition, such as the queue that delivers.
  let note: String?

  /// Describes a receiver, if there is one.
  @usableFromInline
  init(receiver: AnyObject?, note: String?) {
    identity = receiver.map { ObserverIdentity($0) }
    self.note = note
  }

  /// The same for C. Valid while the strings are.
  struct InC {
    let identity: kvo_observer_identity
    let note: UnsafePointer<CChar>?
    let isReceiver: Bool

    static nonisolated(unsafe) let none = InC(identity: .init(), note: nil, isReceiver: false)
  }

  static func withC<Result>(_ described: ObserverDescription?, _ body: (InC) -> Result) -> Result {
    guard let described else { return body(.none) }
    func withNote(_ identity: kvo_observer_identity, _ isReceiver: Bool) -> Result {
      guard let note = described.note else { return body(InC(identity: identity, note: nil, isReceiver: isReceiver)) }
      return note.withCString { body(InC(identity: identity, note: $0, isReceiver: isReceiver)) }
    }
    guard let observer = described.identity else { return withNote(.init(), false) }
    return observer.className.withCString {
      withNote(kvo_observer_identity(class_name: $0, address: observer.address), true)
    }
  }
}
