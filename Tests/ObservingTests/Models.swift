// The model classes and the recorder of the observation tests.
import Foundation
import KeyValueObserving

// ModelsByHand.swift has those for a package without the macro.
#if Macros
  @KeyValueObservable
  class Person {
    var name: String
    var age = 0
    var partner: Person?
    weak var boss: Person?
    init(name: String) { self.name = name }
  }

  /// Without the macro, because it adds no properties.
  final class Manager: Person {
    var isStrict = false
  }

  @KeyValueObservable
  final class Document: NSObject {
    var title = ""
    var isFavorite = false
    var author: Person?
    weak var reviewer: Person?
    var pages: [Int] = []
    var position = (x: 0, y: 0)
    @NotObserved var silent: Person?
    @NotObserved var scratch = 0
    @NotObserved var drafts: [String] = []
    var summary: String { "\(title) by \(author?.name ?? "?")" }
    var headline: String { isFavorite ? summary : "none" }
    var revision: Int { scratch }

    nonisolated static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      key == "revision" ? ["title", "author.age"] : []
    }
    nonisolated static func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "position" }
  }

  @KeyValueObservable
  final class Shelf {
    var books: [Person] = []
    weak var favorite: Person?
  }

  @KeyValueObservable
  final class Marked<Mark> {
    var name = ""
  }

  @KeyValueObservable
  final class Fresh {
    var value = 0
  }

  @KeyValueObservable
  final class Counter {
    var here = 0
    var echo = 0
  }
#endif

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
