// The model's accessors for ordered collections. They announce their changes, as a program would implement them.
import Foundation
import KeyValueObserving

extension T {
  func insert(_ objects: [Any], at indexes: IndexSet, in key: String) throws {
    try check(objects, indexes)
    try change(key, .insertion, indexes, growing: indexes.count) { elements in
      for (index, object) in zip(indexes, objects) { elements.insert(object, at: Swift.min(index, elements.count)) }
    }
  }

  func remove(at indexes: IndexSet, from key: String) throws {
    try change(key, .removal, indexes) { elements in
      for index in indexes.reversed() where index < elements.count { elements.remove(at: index) }
    }
  }

  func replace(at indexes: IndexSet, in key: String, with objects: [Any]) throws {
    guard key != "min" else { throw ScriptError("min has no accessor that replaces") }
    try check(objects, indexes)
    try change(key, .replacement, indexes) { elements in
      for (index, object) in zip(indexes, objects) where index < elements.count { elements[index] = object }
    }
  }

  private func check(_ objects: [Any], _ indexes: IndexSet) throws {
    guard objects.count != indexes.count else { return }
    throw RaisedException(
      name: "NSInvalidArgumentException",
      text: "the counts of the passed-in array (\(objects.count)) and index set (\(indexes.count)) must be identical."
    )
  }

  /// Changes the storage between announcements, unless the class announces the key manually. An index out of range is an error. An
  /// observer notified before the change may still remove elements, so `body` checks again.
  private func change(
    _ key: String, _ kind: NSKeyValueChange, _ indexes: IndexSet, growing: Int = 0, _ body: (inout [Any]) -> Void
  ) throws {
    let count = try orderedElements(of: key).count + growing
    if let last = indexes.last, last >= count {
      throw RaisedException(
        name: "NSRangeException", text: "index \(last) of \(key) is beyond its count, \(count - growing)")
    }
    let announces = Self.automaticallyNotifiesObservers(forKey: key)
    if announces { willChange(kind, valuesAt: indexes, forKey: key) }
    var elements = try orderedElements(of: key)
    body(&elements)
    try setRaw(key, to: key == "ord" ? uniqued(elements) : elements)
    if announces { didChange(kind, valuesAt: indexes, forKey: key) }
  }

  private func orderedElements(of key: String) throws -> [Any] {
    switch key {
    case "list": list
    case "min": min
    case "ord": elements(of: ord)
    default: throw ScriptError("\(Self.kind) has no indexed accessors for \(quoted(key))")
    }
  }
}
