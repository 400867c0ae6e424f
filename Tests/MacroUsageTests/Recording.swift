// Helpers: the changes that an observer receives while a body runs, and the properties that a class lists.
import Synchronization

@testable import KeyValueObserving

/// Returns the changes of one key while `body` runs, as `old -> new`; without values as ` -> `.
func changes<Root: KeyValueObservable>(
  of object: Root, _ path: PartialKeyPath<Root>, values: Bool = true, _ body: () throws -> Void
) -> [String] {
  let seen = Seen()
  func observe<Value>(_: Value.Type) -> NSKeyValueObservation {
    let path = unsafeDowncast(path, to: KeyPath<Root, Value>.self)
    return object.observe(path, options: values ? [.old, .new] : []) { _, change in
      seen.changes.append("\(change.oldValue.map { "\($0)" } ?? "") -> \(change.newValue.map { "\($0)" } ?? "")")
    }
  }
  let token = _openExistential(type(of: path).valueType, do: observe)
  defer { token.invalidate() }
  try? body()
  return seen.changes
}

/// Used on the test's own thread only.
private final class Seen: @unchecked Sendable {
  var changes: [String] = []
}

/// The properties that a class lists, including those of its superclass: the stored ones, which are observed, or the others.
func listing(of type: (some KeyValueObservable).Type, stored: Bool) -> [(name: String, path: AnyKeyPath)] {
  let description = KeyValueClassDescription()
  type.__describeKeyValueProperties(description)
  return description.properties.filter { $0.isStored == stored }.map { ($0.name, $0.path) }
}

func observedNames(of type: (some KeyValueObservable).Type) -> [String] { listing(of: type, stored: true).map(\.name) }
func listedNames(of type: (some KeyValueObservable).Type) -> [String] { listing(of: type, stored: false).map(\.name) }

/// The changes that observers of several properties receive.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  /// Returns the lines since the last call.
  func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

extension KeyValueObservable {
  /// Records each change of a property, as `name old new`.
  func record<Value>(_ path: KeyPath<Self, Value>, as name: String, to log: Log) -> NSKeyValueObservation {
    observe(path, options: [.old, .new]) { log.add("\(name) \($1.oldValue!) \($1.newValue!)") }
  }
}
