// A recorder of changes.

import Foundation
public import KeyValueObserving

/// Records the changes of key paths of one or several objects, in their order.
///
/// ```swift
/// let recorder = ChangeRecorder(document, \.title, \.pages)
/// recorder.record(shelf, "documents.@count")
/// document.title = "Emma"
/// #expect(recorder.changes.map(\.description) == [#"Document.title: "Untitled" -> "Emma""#])
/// ```
/// A change is recorded on the thread that makes it, before the setter returns. The recorder keeps neither the objects nor values that are
/// objects; other values, such as arrays of objects, it keeps until ``removeAll()`` or until it is released. Its observations end with it,
/// or with the object. Every method may be called on any thread.
public final class ChangeRecorder: Sendable {
  let log = ChangeLog()

  /// Creates a recorder that observes nothing yet.
  public init() {}

  deinit { stop() }

  /// Creates a recorder of typed key paths of an object.
  ///
  /// - Parameters:
  ///   - object: The object to observe. It is not retained.
  ///   - keyPaths: What to observe.
  ///   - options: Which values are recorded, and whether the present value (`.initial`) and notifications before changes (`.prior`) are.
  public convenience init<Object: KeyValueObservable, each Value>(
    _ object: Object, _ keyPaths: repeat KeyPath<Object, each Value>,
    options: NSKeyValueObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init()
    record(object, repeat each keyPaths, options: options, fileID: fileID, line: line)
  }

  /// Creates a recorder of string key paths of an object.
  ///
  /// - Parameters:
  ///   - object: The object to observe. It is not retained.
  ///   - keyPaths: What to observe, as for a classic observer.
  ///   - options: Which values are recorded, and whether the present value (`.initial`) and notifications before changes (`.prior`) are.
  public convenience init(
    _ object: some KeyValueObservable, _ keyPaths: String..., options: NSKeyValueObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init()
    for each in keyPaths { add(object, each, options, fileID, line) }
  }

  /// Records the changes of further typed key paths, of the same or of another object.
  ///
  /// - Parameters:
  ///   - object: The object to observe. It is not retained.
  ///   - keyPaths: What to observe.
  ///   - options: Which values are recorded, and whether the present value (`.initial`) and notifications before changes (`.prior`) are.
  public func record<Object: KeyValueObservable, each Value>(
    _ object: Object, _ keyPaths: repeat KeyPath<Object, each Value>,
    options: NSKeyValueObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    func add<Each>(_ keyPath: KeyPath<Object, Each>) {
      let name = nameOfObserved(keyPath, of: object)
      object.observe(keyPath, options: options, for: log, isolation: nil, fileID: fileID, line: line) {
        log, object, change in log.add(change, of: object, name)
      }
    }
    repeat add(each keyPaths)
  }

  /// Records the changes of further string key paths, of the same or of another object.
  ///
  /// - Parameters:
  ///   - object: The object to observe. It is not retained.
  ///   - keyPaths: What to observe, as for a classic observer.
  ///   - options: Which values are recorded, and whether the present value (`.initial`) and notifications before changes (`.prior`) are.
  public func record(
    _ object: some KeyValueObservable, _ keyPaths: String..., options: NSKeyValueObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    for each in keyPaths { add(object, each, options, fileID, line) }
  }

  private func add<Object: KeyValueObservable>(
    _ object: Object, _ keyPath: String, _ options: NSKeyValueObservingOptions, _ fileID: StaticString, _ line: UInt
  ) {
    object.source(keyPath).observe(options: options, for: log, isolation: nil, fileID: fileID, line: line) {
      [weak object] log, change in
      if let object { log.add(change, of: object, keyPath) }
    }
  }

  /// The changes that have been recorded, in their order.
  public var changes: [RecordedChange] { log.changes }

  /// Forgets the changes that have been recorded. The observations go on.
  public func removeAll() { log.removeAll() }

  /// Ends the observations. What has been recorded is kept.
  ///
  /// After it returns, no new change is recorded. The recorder can record again.
  public func stop() { stopObservingAll(for: log) }
}

extension ChangeRecorder: CustomStringConvertible {
  /// The changes, one a line, with their threads if they are of several.
  public var description: String { Self.text(changes) }

  static func text(_ changes: [RecordedChange]) -> String {
    guard !changes.isEmpty else { return "no changes" }
    let hasThreads = Set(changes.map(\.thread)).count > 1
    return changes.enumerated().map { index, change in
      let thread = hasThreads ? "  [\(change.isMainThread ? "main thread" : "thread \(change.thread)")]" : ""
      return "\(index + 1). \(change)\(thread)"
    }.joined(separator: "\n")
  }
}

/// What a recorder has recorded, and who waits for more. It is the receiver of the observations.
final class ChangeLog: @unchecked Sendable {
  private let lock = NSLock()
  private var entries: [RecordedChange] = []
  private var waiters: [ObjectIdentifier: Waiter] = [:]

  var changes: [RecordedChange] { lock.withLock { entries } }

  func removeAll() {
    // Their values are released when the lock is free: what dies with them may notify.
    _ = lock.withLock {
      defer { entries = [] }
      return entries
    }
  }

  func add<Value>(_ change: NSKeyValueObservedChange<Value>, of object: some KeyValueObservable, _ keyPath: String) {
    let recorded = RecordedChange(change, of: object, keyPath)
    let (changes, waiting) = lock.withLock {
      entries.append(recorded.numbered())
      return (waiters.isEmpty ? [] : entries, Array(waiters.values))
    }
    for waiter in waiting { waiter.look(at: changes) }
  }

  func add(_ waiter: Waiter) {
    let changes = lock.withLock {
      waiters[ObjectIdentifier(waiter)] = waiter
      return entries
    }
    waiter.look(at: changes)
  }

  func remove(_ waiter: Waiter) { lock.withLock { waiters[ObjectIdentifier(waiter)] = nil } }
}
