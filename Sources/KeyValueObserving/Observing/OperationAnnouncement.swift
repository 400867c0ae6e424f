// Operations: what one announces reaches Foundation's queue, which it drives, and our observers.

import CKVO
public import Foundation
import Synchronization

/// An operation of Foundation. The macro asks for it, to write what announcing needs.
public protocol _KeyValueOperation: AnyObject {}

extension Operation: _KeyValueOperation {
  /// The keys of an operation's states: they change when the operation, or Foundation, says so.
  static let stateKeys: Set<String> = ["isReady", "isExecuting", "isFinished", "isCancelled"]

  /// The state that a key path of Foundation's class names.
  fileprivate static func stateKey(of keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \Operation.isReady: "isReady"
    case \Operation.isExecuting: "isExecuting"
    case \Operation.isFinished: "isFinished"
    case \Operation.isCancelled: "isCancelled"
    default: nil
    }
  }
}

/// What `willChangeValue` and `didChangeValue` are in an operation: called, they are the methods of these names.
///
/// Foundation on Linux has methods of these names for operations, by which its queue learns of their states, and which cannot be
/// overridden. But a property that can be called comes before a method of its name, whichever class has the method: so an
/// operation announces as everywhere, and both hear it, our observers first.
public struct KeyValueOperationAnnouncement<Object: Operation & KeyValueObservable> {
  private let operation: Object
  private let isDone: Bool

  /// Makes what announces that changes of an operation are about to happen, or that they are done.
  public init(_ operation: Object, isDone: Bool) {
    self.operation = operation
    self.isDone = isDone
  }

  /// `willChangeValue(forKey:)` or `didChangeValue(forKey:)`.
  public func callAsFunction(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) {
    announce(key, SourceLocation(file: fileID, line: line))
  }

  /// `willChangeValue(for:)` or `didChangeValue(for:)`, with a key path of one property.
  public func callAsFunction<Value>(
    for keyPath: KeyPath<Object, Value>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line))
  }

  /// The same with a key path that begins at a superclass or a subclass.
  @_disfavoredOverload
  public func callAsFunction<Root: Operation, Value>(
    for keyPath: KeyPath<Root, Value>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line))
  }

  private func announce(_ keyPath: AnyKeyPath, _ site: SourceLocation) {
    guard let key = Operation.stateKey(of: keyPath) ?? operation.name(of: keyPath, site) else { return }
    announce(key, site)
  }

  private func announce(_ key: String, _ site: SourceLocation) {
    guard isDone else { return operation.announceWillChange(key, site) }
    operation.announceDidChange(key, site)
    (operation as Operation).didChangeValue(forKey: key)
  }
}

/// Tells Foundation of states that a class does not announce, but declares to depend on other keys.
///
/// The macro adds one to a class that declares such keys, and has the getter of `isReady` connect it: a queue asks that of each
/// operation before it takes it.
public final class KeyValueOperationLink: KeyValueObserver, Sendable {
  private let isConnected = Atomic<Bool>(false)

  /// Makes one for an operation.
  public init() {}

  /// Observes the states of the operation that are declared to depend on others; at its first call only.
  public func connect(_ operation: some Operation & KeyValueObservable) {
    guard !isConnected.exchange(true, ordering: .relaxed) else { return }
    let cls = KeyValueClass.of(operation)
    for key in Operation.stateKeys where cls.isAffected(keyHash(key)) {
      ClassicObservation(
        observer: self, object: operation, keyPath: key, context: nil, options: [],
        site: SourceLocation(file: #fileID, line: #line), evaluating: [key]
      ).register(with: operation.adoptedObject, key: nil, endsWithObject: true)
    }
  }

  /// Hands a change on to Foundation.
  public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    guard let keyPath, let operation = object as? Operation else { return }
    operation.didChangeValue(forKey: keyPath)
  }
}
