// Observation of several key paths by one handler.

import CKVO
import Synchronization

extension KeyValueObservable {
  /// Observes several key paths on behalf of a receiver. The handler is told which one has changed.
  ///
  /// ```swift
  /// document.observe(\.title, \.pages, options: [.new], for: self) { me, document, keyPath, change in
  ///   if keyPath == \Document.title { me.label.text = change.newValue as? String ?? "" }
  /// }
  /// ```
  /// Otherwise see ``observe(_:options:for:userInfo:isolation:fileID:line:handler:)``.
  @discardableResult
  public func observe<A, B, each Value, Receiver: AnyObject>(
    _ first: KeyPath<Self, A>, _ second: KeyPath<Self, B>, _ others: repeat KeyPath<Self, each Value>,
    options: NSKeyValueObservingOptions = [], for receiver: Receiver, userInfo: (any Sendable)? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    handler: @escaping (Receiver, Self, PartialKeyPath<Self>, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    typealias Told = (keyPath: PartialKeyPath<Self>, change: NSKeyValueObservedChange<Any>)
    let (reference, object) = (ReceiverReference(receiver), UnretainedObject(self))
    let teller = Teller<Told>(isolation) { told in
      guard let receiver = reference.load(), let object = object.load() else { return }
      handler(receiver, object, told.keyPath, told.change)
    }
    let site = SourceLocation(file: fileID, line: line)
    let description = ObserverDescription(
      receiver: receiver, note: note(teller.note, userInfo), evaluator: teller.evaluator)
    var (observations, hasEnded): ([UInt64], Bool) = ([], false)
    func add<Each>(_ keyPath: KeyPath<Self, Each>) {
      observations.append(ifAllAreRegistered: &hasEnded) {
        observe(keyPath, options, site, description) { _, change in teller.tell((keyPath, change.erased)) }
      }
    }
    add(first)
    add(second)
    repeat add(each others)
    teller.follow(observations)
    return reference.token(
      observations[0], others: Array(observations.dropFirst()), of: receiver, delivery: teller.pending)
  }

  @usableFromInline
  nonisolated func receiveSeveral<each Value, Receiver: AnyObject>(
    _ keyPaths: repeat KeyPath<Self, each Value>, initial: Bool, for receiver: Receiver, on actor: (any Actor)?,
    _ site: SourceLocation, _ userInfo: (any Sendable)?, _ handler: @escaping (Receiver, repeat each Value) -> Void
  ) -> NSKeyValueObservation {
    let reference = ReceiverReference(receiver)
    let teller = Teller<(repeat each Value)>(actor, expectsInitial: initial) { values in
      if let receiver = reference.load() { handler(receiver, repeat each values) }
    }
    let paths = (repeat ExpressionPath(each keyPaths))
    var evaluator: ActorGate?
    for path in repeat each paths {
      if !path.isOfStoredProperties, directProperty(at: path.keyPath) == nil { evaluator = teller.evaluator }
    }
    /// Reads all values; `nil` while one of the key paths has none.
    func values(_ object: Self) -> (repeat each Value)? {
      func value<Each>(_ path: ExpressionPath<Self, Each>) throws(NoValue) -> Each {
        guard let value = path.read(object) else { throw NoValue() }
        return value
      }
      do { return (repeat try value(each paths)) } catch { return nil }
    }
    let description = ObserverDescription(
      receiver: receiver, note: note(teller.note, userInfo), evaluator: evaluator)
    let tell = EvaluatedLater(on: evaluator, UnretainedObject(self)) { object in
      if let values = values(object) { teller.tell(values) }
    }
    var (observations, hasEnded): ([UInt64], Bool) = ([], false)
    func add<Each>(_ path: ExpressionPath<Self, Each>) {
      let changes = ValueChanges<Each>()
      observations.append(ifAllAreRegistered: &hasEnded) {
        observe(
          path.keyPath, changes.areEqual == nil ? [] : .whole, site, description, sharing: path
        ) { object, change in
          if changes.areEqual == nil || changes.values(of: change) != nil { tell(object) }
        }
      }
    }
    repeat add(each paths)
    guard let first = observations.first else { return reference.token(0, of: receiver) }
    let token = reference.token(first, others: Array(observations.dropFirst()), of: receiver, delivery: teller.pending)
    if initial, let values = values(self) { teller.tell(values) }
    teller.follow(observations)
    return token
  }
}

/// A function that reads an object where expressions may be evaluated: at once, or later if it was called elsewhere, once for all calls.
private final class EvaluatedLater<Object: AnyObject>: @unchecked Sendable {
  private let evaluator: ActorGate?
  private let object: UnretainedObject<Object>
  private let body: (Object) -> Void
  private let isDue = Atomic<Bool>(false)

  init(on evaluator: ActorGate?, _ object: UnretainedObject<Object>, _ body: @escaping (Object) -> Void) {
    (self.evaluator, self.object, self.body) = (evaluator, object, body)
  }

  func callAsFunction(_ object: Object) {
    guard let evaluator, !evaluator.mayEvaluate else { return body(object) }
    guard !isDue.exchange(true, ordering: .sequentiallyConsistent) else { return }
    evaluator.run { [self] in
      isDue.store(false, ordering: .sequentiallyConsistent)
      if let object = self.object.load() { body(object) }
    }
  }
}

/// A key path has no value at present.
private struct NoValue: Error {}

/// Tells an observer of values, on its actor if it has one.
final class Teller<Value> {
  private let delivery: ActorDelivery<Value>?
  private let handler: (Value) -> Void
  let note: String?

  init(_ actor: (any Actor)?, expectsInitial: Bool = false, _ handler: @escaping (Value) -> Void) {
    self.handler = handler
    delivery = actor.map { actor in
      ActorDelivery(actor, expectsInitial: expectsInitial) { change in handler(change.newValue!) }
    }
    note = actor.map(deliveryName)
  }

  var pending: PendingDelivery? { delivery?.pending }

  var evaluator: ActorGate? { delivery?.gate.evaluator }

  func follow(_ observations: [UInt64]) { delivery?.follow(all: observations) }

  func tell(_ value: Value) {
    if let delivery {
      delivery.deliver(NSKeyValueObservedChange(kind: .setting, newValue: value))
    } else {
      handler(value)
    }
  }
}

extension NSKeyValueObservedChange {
  /// The change with values of any type.
  var erased: NSKeyValueObservedChange<Any> {
    .init(
      kind: .init(rawValue: kind.rawValue) ?? .setting, newValue: newValue, oldValue: oldValue, indexes: indexes,
      isPrior: isPrior)
  }
}

extension [UInt64] {
  /// Registers one of several observations, unless one before it was refused or has ended in its initial call: then it ends them all.
  mutating func append(ifAllAreRegistered hasEnded: inout Bool, _ register: () -> UInt64) {
    guard !hasEnded else { return }
    append(register())
    hasEnded = !kvo_observation_is_registered(self[count - 1])
    if hasEnded { for observation in self { kvo_cancel_observer(observation) } }
  }
}
