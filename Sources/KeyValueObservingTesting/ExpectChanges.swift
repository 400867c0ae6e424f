// Expectations of the changes that code makes.

import Foundation
public import KeyValueObserving

/// Expects that code sets a property, or changes the value of a key path, to these values, in this order.
///
/// ```swift
/// expectChanges(of: document, \.title, ["Emma", "Persuasion"]) { load(document) }
/// ```
/// The changes of all threads count. Each has the whole value, also of a collection whose elements change. Other changes than these are one
/// issue of the test, which shows the expected and the actual ones side by side. If the body throws, nothing is compared.
///
/// - Parameters:
///   - object: The object to observe while the body runs.
///   - keyPath: What to observe.
///   - values: The new values, in the order of the changes. Empty: there are no changes.
///   - body: The code that makes the changes.
/// - Returns: What the body returns.
@discardableResult
public func expectChanges<Object: KeyValueObservable, Value: Equatable, Result, Failure>(
  of object: Object, _ keyPath: KeyPath<Object, Value>, _ values: [Value], fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let changes = ChangesOfOne(of: object, keyPath, Place(fileID, filePath, line, column))
  let result = try body()
  changes.compare(with: values.map { ChangeOfValue(old: nil, new: $0) })
  return result
}

/// The same with the old and the new value of each change.
///
/// ```swift
/// expectChanges(of: document, \.title, [("Untitled", "Emma")]) { document.title = "Emma" }
/// ```
/// See ``expectChanges(of:_:_:fileID:filePath:line:column:in:)-(_,_,[Value],_,_,_,_,_)``.
@discardableResult
@_disfavoredOverload  // an empty list is one of values
public func expectChanges<Object: KeyValueObservable, Value: Equatable, Result, Failure>(
  of object: Object, _ keyPath: KeyPath<Object, Value>, _ changes: [(old: Value, new: Value)],
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let actual = ChangesOfOne(of: object, keyPath, Place(fileID, filePath, line, column))
  let result = try body()
  actual.compare(with: changes.map { ChangeOfValue(old: $0.old, new: $0.new) })
  return result
}

/// The same for asynchronous code, which has the isolation of the caller.
///
/// ```swift
/// await expectChanges(of: download, \.percent, [50, 100]) { await download.run() }
/// ```
/// See ``expectChanges(of:_:_:fileID:filePath:line:column:in:)-(_,_,[Value],_,_,_,_,_)``.
@discardableResult
public func expectChanges<Object: KeyValueObservable, Value: Equatable, Result, Failure>(
  of object: Object, _ keyPath: KeyPath<Object, Value>, _ values: [Value],
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let changes = ChangesOfOne(of: object, keyPath, Place(fileID, filePath, line, column))
  let result = try await body()
  changes.compare(with: values.map { ChangeOfValue(old: nil, new: $0) })
  return result
}

/// The same for asynchronous code, with the old and the new value of each change.
///
/// See ``expectChanges(of:_:_:fileID:filePath:line:column:in:)-(_,_,[Value],_,_,_,_,_)``.
@discardableResult
@_disfavoredOverload
public func expectChanges<Object: KeyValueObservable, Value: Equatable, Result, Failure>(
  of object: Object, _ keyPath: KeyPath<Object, Value>, _ changes: [(old: Value, new: Value)],
  isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, in body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let actual = ChangesOfOne(of: object, keyPath, Place(fileID, filePath, line, column))
  let result = try await body()
  actual.compare(with: changes.map { ChangeOfValue(old: $0.old, new: $0.new) })
  return result
}

/// A change, or what is expected of one: then without an old value any one will do.
private struct ChangeOfValue<Value: Equatable> {
  let old: Value?
  let new: Value

  func matches(_ actual: ChangeOfValue) -> Bool { (old == nil || old == actual.old) && new == actual.new }

  func text(withOld: Bool) -> String {
    withOld ? "\(old.map(textOfValue) ?? "") -> \(textOfValue(new))" : textOfValue(new)
  }
}

/// The changes of one key path while a body runs.
private final class ChangesOfOne<Value: Equatable>: @unchecked Sendable {
  private let lock = NSLock()
  private var changes: [ChangeOfValue<Value>] = []
  private var token: NSKeyValueObservation?
  private let name: String
  private let place: Place

  init<Object: KeyValueObservable>(of object: Object, _ keyPath: KeyPath<Object, Value>, _ place: Place) {
    name = "\(_typeName(type(of: object), qualified: false)).\(nameOfObserved(keyPath, of: object))"
    self.place = place
    token = observeAssignments(keyPath, of: object, fileID: place.fileID, line: place.line) { [weak self] old, new in
      guard let self else { return }
      lock.withLock { changes.append(ChangeOfValue(old: old, new: new)) }
    }
  }

  func compare(with expected: [ChangeOfValue<Value>]) {
    token?.invalidate()
    let actual = lock.withLock { changes }
    let count = max(expected.count, actual.count)
    guard
      let first = (0..<count).first(where: {
        $0 >= expected.count || $0 >= actual.count || !expected[$0].matches(actual[$0])
      })
    else { return }
    let withOld = expected.contains { $0.old != nil }
    let table = SideBySide(
      expected: expected.map { $0.text(withOld: withOld) }, actual: actual.map { $0.text(withOld: withOld) },
      differs: { $0 >= expected.count || $0 >= actual.count || !expected[$0].matches(actual[$0]) })
    place.report("the changes of \(name) differ from the expected ones, first in change \(first + 1):\n\(table.text)")
  }
}
