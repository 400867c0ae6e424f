// Expectations that observations have ended.

public import KeyValueObserving

/// Expects that nothing observes an object.
///
/// ```swift
/// panel.close()
/// expectNoObservations(of: document)
/// ```
/// Otherwise it is one issue of the test, which says who still observes what, and where that was registered. Observations of key paths of
/// other objects that go through the object count. So does one for a receiver that is deallocated but cannot be observed itself, because it
/// ends only at the next change.
///
/// - Parameter objects: The objects.
public func expectNoObservations(
  of objects: any KeyValueObservable..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column
) {
  let graph = ObservationGraph.current()
  let addresses = objects.map(address(of:))
  let asked = Set(graph.objects.indices.filter { addresses.contains(graph.objects[$0].address.rawValue) })
  let through = Dictionary(
    graph.edges.filter { asked.contains($0.object) }.map { ($0.observation, $0.object) }, uniquingKeysWith: { $1 })
  let found = graph.observations.indices.filter { asked.contains(graph.observations[$0].object) || through[$0] != nil }
  guard !found.isEmpty else { return }
  let names = objects.map { name(of: $0) }.joined(separator: ", ")
  Place(fileID, filePath, line, column).report(
    "expected that nothing observes \(names), but \(graph.list(found, going: through))")
}

/// Expects that all observations that code registers have ended when it returns, of whatever objects.
///
/// ```swift
/// expectNoObservations {
///   let panel = Panel(document)
///   panel.close()
/// }
/// ```
/// Those that the code registers in Swift on the current thread count, and in the tasks that it starts, except for detached ones. Those of
/// other threads, such as of tests that run at the same time, do not. If the body throws, nothing is expected.
///
/// - Parameter body: The code that observes.
/// - Returns: What the body returns.
@discardableResult
public func expectNoObservations<Result>(
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () throws -> Result
) rethrows -> Result {
  let (result, registered) = try RegistrationLog.collect(in: body)
  expectEnded(registered, Place(fileID, filePath, line, column))
  return result
}

/// Expects that all observations that asynchronous code registers have ended when it returns.
///
/// Those of the current task count, on any thread, and those of tasks that it starts, except for detached ones. Otherwise see
/// ``expectNoObservations(fileID:filePath:line:column:in:)``.
@discardableResult
public func expectNoObservations<Result>(
  isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, in body: () async throws -> Result
) async rethrows -> Result {
  let (result, registered) = try await RegistrationLog.collect(in: body)
  expectEnded(registered, Place(fileID, filePath, line, column))
  return result
}

private func expectEnded(_ registered: [UInt64], _ place: Place) {
  guard !registered.isEmpty else { return }
  let (graph, ids) = (ObservationGraph.current(), Set(registered))
  let found = graph.observations.indices.filter { ids.contains(graph.observations[$0].id.rawValue) }
  guard !found.isEmpty else { return }
  place.report("expected that all observations have ended that the body registered, but \(graph.list(found))")
}

/// The address of an object in the graph.
private func address(of object: any KeyValueObservable) -> UInt64 {
  let native = (object as? KeyValueRuntimeObject).map { UInt(bitPattern: $0.pointer) }
  return UInt64(native ?? UInt(bitPattern: ObjectIdentifier(object)))
}

extension ObservationGraph {
  /// The text for observations, one a line.
  ///
  /// - Parameter through: For observations of other objects the object that they go through.
  fileprivate func list(_ found: [Int], going through: [Int: Int] = [:]) -> String {
    let count = found.count == 1 ? "this observation remains" : "these \(found.count) observations remain"
    return (["\(count):"] + found.map { "  " + text($0, going: through[$0]) }).joined(separator: "\n")
  }

  private func text(_ index: Int, going through: Int?) -> String {
    let each = observations[index]
    let observer = each.observer.map { address in
      each.observerClass.flatMap { $0.isEmpty ? nil : "\($0)@\(address)" } ?? "\(address)"
    }
    var parts = ["\"\(each.keyPath)\" of \(name(each.object)), observed by \(observer ?? "a closure")"]
    if let through, through != each.object { parts.append("through \(name(through))") }
    if let place = each.registeredAt { parts.append("registered at \(place.file):\(place.line)") }
    if let note = each.note { parts.append(note) }
    return parts.joined(separator: ", ")
  }

  private func name(_ object: Int) -> String { "\(objects[object].className)@\(objects[object].address)" }
}
