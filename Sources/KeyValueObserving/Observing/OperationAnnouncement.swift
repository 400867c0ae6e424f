// Manual notification in operations: it notifies both our observers and Foundation's operation queue.

import CKVO
public import Foundation
import Synchronization

/// A Foundation operation. The macro tests for this conformance to generate the members that announcements need.
public protocol _KeyValueOperation: AnyObject {}

extension Operation: _KeyValueOperation {
  /// The keys of an operation's states. They change when the operation or Foundation announces it.
  static let stateKeys: Set<String> = ["isReady", "isExecuting", "isFinished", "isCancelled"]

  /// Returns the key of the state that a key path of Foundation's class names, or `nil` for other key paths.
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

/// The type of the properties `willChangeValue` and `didChangeValue` of an operation, which can be called like the methods of these
/// names.
///
/// Foundation on Linux declares methods of these names in `Operation`. Its queue uses them to follow the states of operations, and
/// they cannot be overridden. Swift prefers a callable property to a method of the same name, whichever class declares the method.
/// An operation therefore announces changes like any other object, and both our observers and the queue are notified, our observers
/// first.
public struct _KeyValueOperationAnnouncement<Object: Operation & KeyValueObservable> {
  private let operation: Object
  private let isDone: Bool

  /// Creates the value that announces the beginning (`isDone` is `false`) or the end (`isDone` is `true`) of an operation's
  /// changes.
  public init(_ operation: Object, isDone: Bool) {
    self.operation = operation
    self.isDone = isDone
  }

  /// Does what `willChangeValue(forKey:)` or `didChangeValue(forKey:)` does.
  public func callAsFunction(forKey key: String, fileID: StaticString = #fileID, line: UInt = #line) {
    announce(key, SourceLocation(file: fileID, line: line))
  }

  /// Does what `willChangeValue(for:)` or `didChangeValue(for:)` does, with a key path of one property.
  public func callAsFunction<Value>(
    for keyPath: KeyPath<Object, Value>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    announce(keyPath, SourceLocation(file: fileID, line: line))
  }

  /// Does the same for a key path whose root is a superclass or a subclass.
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

/// Notifies Foundation of state changes that a class does not announce but declares as dependent on other keys.
///
/// The macro adds a link to a class that declares such keys, and generates a getter of `isReady` that connects it: a queue reads
/// that property of each operation before it accepts the operation.
public final class _KeyValueOperationLink: KeyValueObserver, Sendable {
  private let isConnected = Atomic<Bool>(false)

  /// Creates an unconnected link.
  public init() {}

  /// Observes the operation's states that are declared as dependent on other keys. Only the first call has an effect.
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

  /// Notifies Foundation of a change.
  public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    guard let keyPath, let operation = object as? Operation else { return }
    operation.didChangeValue(forKey: keyPath)
  }
}
