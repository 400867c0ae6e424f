// The model classes, and what the tests record with.
import Foundation
import KeyValueObserving
import Testing

// ModelsByHand.swift has those for a package without the macro.
#if Macros
  @KeyValueObservable
  class Person {
    var name: String
    var age = 0
    init(name: String) { self.name = name }
  }

  /// Without the macro, because it adds no properties.
  final class Manager: Person {}

  @KeyValueObservable
  final class Document: NSObject {
    var title = ""
    var isFavorite = false
    var author: Person?
    weak var reviewer: Person?
    var pages: [Int] = []
    @NotObserved var scratch = 0
    var summary: String { "\(title) by \(author?.name ?? "?")" }
    var headline: String { isFavorite ? summary : "none" }
    var revision: Int { scratch }

    nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "revision" ? ["title", "author.age"] : []
    }
  }

  @KeyValueObservable
  final class Fresh {
    var value = 0
  }
#endif

extension KeyValueObservationHeader {
  /// The setter of a property without the macro.
  func set<Value>(_ key: UInt64, _ read: () -> Value, _ store: () -> Void) {
    guard isObserved else {
      store()
      stored(key, read)
      return
    }
    change(key, read, store)
  }
}

/// A thread-safe log of changes.
final class Log: Sendable {
  // Not a Mutex, which ThreadSanitizer does not support.
  private let lock = NSLock()
  private nonisolated(unsafe) var entries: [String] = []
  var lines: [String] { lock.withLock { entries } }
  func add(_ line: String) { lock.withLock { entries.append(line) } }
  /// Returns the lines since the last call.
  func take() -> [String] {
    lock.withLock {
      defer { entries = [] }
      return entries
    }
  }
}

extension KeyValueObservable {
  /// Logs each change of an observation as `[prior ]old>new`, with `-` for a missing value.
  func log<Value>(
    _ path: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions = [.old, .new], as name: String = "",
    to log: Log
  ) -> NSKeyValueObservation {
    observe(path, options: options) { _, change in
      let old = change.oldValue.map { text($0) } ?? "-"
      let new = change.newValue.map { text($0) } ?? "-"
      log.add("\(name)\(change.isPrior ? "prior " : "")\(old)>\(new)")
    }
  }
}

/// Returns a value as text, without optionals.
func text(_ value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  guard mirror.displayStyle == .optional else { return "\(value)" }
  return mirror.children.first.map { text($0.value) } ?? "nil"
}

/// Runs a body and returns the faults that it raises on this thread.
func faults(in body: () -> Void) -> [KeyValueFault] {
  nonisolated(unsafe) var faults: [KeyValueFault] = []
  KeyValueFault.withHandler {
    faults.append($0)
    return .ignore
  } in: {
    body()
  }
  return faults
}

/// Returns a function that calls others, and returns the number of notifications during each of them. The key is observed by key path
/// and by string, with and without values, which have to agree.
func notifications<Object: KeyValueObservable, Value>(
  of object: Object, _ path: KeyPath<Object, Value>, _ key: String
) -> ((() -> Void)...) -> [Int] {
  func count(_ body: () -> Void) -> Int {
    let (typed, plain, full) = (Log(), Watcher(), Watcher())
    let token = object.observe(path) { _, _ in typed.add("") }
    object.addObserver(plain, forKeyPath: key)
    object.addObserver(full, forKeyPath: key, options: [.old, .new])
    body()
    for watcher in [plain, full] { object.removeObserver(watcher, forKeyPath: key) }
    token.invalidate()
    let count = typed.lines.count
    #expect(plain.log.lines.count == count && full.log.lines.count == count, "by string, of \(key)")
    return count
  }
  func counts(_ bodies: (() -> Void)...) -> [Int] { bodies.map(count) }
  return counts
}

/// A classic observer that logs lines such as `title a>b`.
final class Watcher: KeyValueObserver {
  let log: Log
  init(_ log: Log = Log()) { self.log = log }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let change = change ?? [:]
    let old = change[.oldKey].map { "\($0)" } ?? "-"
    let new = change[.newKey].map { "\($0)" } ?? "-"
    let prior = change[.notificationIsPriorKey] as? Bool == true ? " prior" : ""
    let kind = (change[.kindKey] as? UInt).flatMap { NSKeyValueChange(rawValue: $0) }
    let indexes = (change[.indexesKey] as? IndexSet).map { " at \(Array($0))" } ?? ""
    log.add("\(keyPath ?? "nil")\(prior) \(old)>\(new)\(kind == .setting ? "" : " \(kind!)")\(indexes)")
  }
}
