// Code whose changes are told once at its end, or not at all.

import CKVO

/// Runs code, and notifies of the changes that it makes to some objects, or to all, once at its end.
///
/// ```swift
/// withCoalescedChanges(of: document) {
///   for line in lines { document.text += line }
/// }
/// withCoalescedChanges { document.readTitleFromFile() }  // whatever it changes
/// ```
/// Each observer of each changed key is notified once, on this thread, before the function returns: with the value before the first
/// change as the old value and the present one as the new value; of a collection with a setting. An observation of an expression that
/// depends on several of the keys, such as a computed property, is notified once, too; when one of the keys has changed, also of what this
/// thread changes of other objects meanwhile. The order is that of the first changes. Observers that want prior notifications receive them
/// at the first change.
///
/// Calls nest: the notifications are sent at the end of the outermost call that names the object. If the code throws, the changes made
/// until then are notified of. Changes by other threads, and of other objects, notify as usual, while the code runs. Changes that observers
/// make to the objects meanwhile, on this thread, belong to the call. An addition of this library.
///
/// - Parameters:
///   - objects: The objects. They are retained until the function returns. Without any, all that this thread changes are meant; one whose
///     observers are to be notified is retained until they have been.
///   - onlyIfChanged: Whether only keys and expressions are notified of whose value differs from that before the call: by `==`, or by
///     identity for objects that are not `Equatable`. Other values that are not `Equatable` count as different. If another thread sets
///     a key within the call and the code then sets it to the value before, that last value is not notified of.
///   - body: The code. It may set the objects, register and end observations.
/// - Returns: The result of `body`.
public func withCoalescedChanges<Result, Failure: Error>(
  of objects: any KeyValueObservable..., onlyIfChanged: Bool = false, fileID: StaticString = #fileID,
  line: UInt = #line, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let kind = onlyIfChanged ? KVO_SCOPE_COALESCES_IF_CHANGED : KVO_SCOPE_COALESCES
  return try withScope(kind, objects.isEmpty ? nil : objects, SourceLocation(file: fileID, line: line), body)
}

/// Runs code whose changes to the objects of an array are notified of once for each key, at its end.
///
/// - Parameters:
///   - objects: The objects. They are retained until the function returns.
///   - onlyIfChanged: Whether only keys and expressions are notified of whose value differs from that before the call.
///   - body: The code.
/// - Returns: The result of `body`.
public func withCoalescedChanges<Result, Failure: Error>(
  of objects: [any KeyValueObservable], onlyIfChanged: Bool = false, fileID: StaticString = #fileID,
  line: UInt = #line, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let kind = onlyIfChanged ? KVO_SCOPE_COALESCES_IF_CHANGED : KVO_SCOPE_COALESCES
  return try withScope(kind, objects, SourceLocation(file: fileID, line: line), body)
}

/// Runs code whose changes to some objects nobody is notified of.
///
/// ```swift
/// withoutNotifying(document) { document.title = "Untitled" }  // no observer is called
/// ```
///
/// Only changes that this thread makes are meant. Expressions that depend on a changed property, such as nested key paths, follow the new
/// value silently; their next notification is right again. Calls nest. Announcements by hand are silent, too. An addition of this library;
/// on Apple's platforms a program would set the instance variable.
///
/// - Parameters:
///   - objects: The objects. They are retained until the function returns. Without any, all that this thread changes are meant.
///   - body: The code.
/// - Returns: The result of `body`.
public func withoutNotifying<Result, Failure: Error>(
  _ objects: any KeyValueObservable..., fileID: StaticString = #fileID, line: UInt = #line,
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try withScope(
    KVO_SCOPE_SILENCES, objects.isEmpty ? nil : objects, SourceLocation(file: fileID, line: line), body)
}

/// Runs code whose changes to the objects of an array nobody is notified of.
///
/// - Parameters:
///   - objects: The objects. They are retained until the function returns.
///   - body: The code.
/// - Returns: The result of `body`.
public func withoutNotifying<Result, Failure: Error>(
  _ objects: [any KeyValueObservable], fileID: StaticString = #fileID, line: UInt = #line,
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try withScope(KVO_SCOPE_SILENCES, objects, SourceLocation(file: fileID, line: line), body)
}

/// - Parameter objects: The objects, or `nil` for all.
private func withScope<Result, Failure: Error>(
  _ kind: kvo_scope_kind, _ objects: [any KeyValueObservable]?, _ site: SourceLocation,
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  if objects?.isEmpty == true { return try body() }
  // A pointer to a variable: the runtime recognises by its address that the code was left.
  var scope = kvo_scope()
  return try withUnsafeMutablePointer(to: &scope) { (scope) throws(Failure) in
    begin(scope, kind, objects, site)
    defer { kvo_scope_end(scope) }
    return try body()
  }
}

private func begin(
  _ scope: UnsafeMutablePointer<kvo_scope>, _ kind: kvo_scope_kind, _ objects: [any KeyValueObservable]?,
  _ site: SourceLocation
) {
  guard let objects else {
    _ = kvo_scope_begin(scope, kind, nil, 0, site.cFile, site.cLine)
    return
  }
  withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<kvo_object>.self, capacity: objects.count) { headers in
    for (index, object) in objects.enumerated() { headers.initializeElement(at: index, to: object.adoptedObject) }
    _ = kvo_scope_begin(scope, kind, UnsafePointer(headers.baseAddress), headers.count, site.cFile, site.cLine)
  }
}
