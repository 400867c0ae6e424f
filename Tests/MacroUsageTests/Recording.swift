// Helpers: the changes that an observer receives while a body runs, and the properties that a class lists.
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

/// The properties that a class lists, including those of its superclass.
struct Listing {
  let observed: [(name: String, path: AnyKeyPath)]
  let properties: [(name: String, path: AnyKeyPath)]
}

func listing(of type: (some KeyValueObservable).Type) -> Listing {
  let description = KeyValueClassDescription()
  type.__describeKeyValueProperties(description)
  func pick(_ stored: Bool) -> [(name: String, path: AnyKeyPath)] {
    description.properties.filter { $0.isStored == stored }.map { ($0.name, $0.path) }
  }
  return Listing(observed: pick(true), properties: pick(false))
}

func observedNames(of type: (some KeyValueObservable).Type) -> [String] { listing(of: type).observed.map(\.name) }
func listedNames(of type: (some KeyValueObservable).Type) -> [String] { listing(of: type).properties.map(\.name) }
