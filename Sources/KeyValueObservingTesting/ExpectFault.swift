// Expectations of faults.

import Foundation
public import KeyValueObserving

/// Expects that code raises one fault of a kind.
///
/// ```swift
/// expectFault(.notRegistered) { document.removeObserver(panel, forKeyPath: "title") }
/// ```
/// The fault is not reported, and the process goes on: the misuse has no effect. No fault, another one, or a second one is one issue of the
/// test, with the reports of those that were raised. A fault of severity info counts only if it is expected.
///
/// Only faults of the current thread count: those that other tests expect at the same time are theirs. Fault handlers stay installed. They
/// are not called for these faults, except for one of severity info that is not expected. If the body throws, nothing is compared.
///
/// - Parameters:
///   - kind: The kind of the fault.
///   - body: The code that raises it.
/// - Returns: What the body returns.
@discardableResult
public func expectFault<Result, Failure>(
  _ kind: KeyValueFault.Kind, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, in body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try expectFaults([kind], fileID: fileID, filePath: filePath, line: line, column: column, in: body)
}

/// Expects that asynchronous code raises one fault of a kind.
///
/// It hears of the faults of the current task and of the tasks that it starts meanwhile, on any thread, except for detached ones and code
/// that runs on a dispatch queue. Otherwise see ``expectFault(_:fileID:filePath:line:column:in:)``.
@discardableResult
public func expectFault<Result>(
  _ kind: KeyValueFault.Kind, isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () async throws -> Result
) async rethrows -> Result {
  try await expectFaults([kind], fileID: fileID, filePath: filePath, line: line, column: column, in: body)
}

/// Expects that code raises these faults, in this order, or none.
///
/// ```swift
/// expectFaults([]) { panel.close() }
/// ```
/// Otherwise see ``expectFault(_:fileID:filePath:line:column:in:)``.
@discardableResult
public func expectFaults<Result, Failure>(
  _ kinds: [KeyValueFault.Kind], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, in body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let raised = RaisedFaults(expecting: kinds)
  let result = try KeyValueFault.withHandler(raised.note, in: body)
  raised.compare(Place(fileID, filePath, line, column))
  return result
}

/// Expects that asynchronous code raises these faults, in this order, or none.
///
/// See ``expectFault(_:isolation:fileID:filePath:line:column:in:)``.
@discardableResult
public func expectFaults<Result>(
  _ kinds: [KeyValueFault.Kind], isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  in body: () async throws -> Result
) async rethrows -> Result {
  let raised = RaisedFaults(expecting: kinds)
  let result = try await KeyValueFault.withTaskHandler({ raised.note($0) }, in: body)
  raised.compare(Place(fileID, filePath, line, column))
  return result
}

/// The faults that a body raises.
private final class RaisedFaults: @unchecked Sendable {
  private let expected: [KeyValueFault.Kind]
  private let lock = NSLock()
  private var raised: [KeyValueFault] = []

  init(expecting kinds: [KeyValueFault.Kind]) { expected = kinds }

  func note(_ fault: KeyValueFault) -> KeyValueFault.Action {
    guard fault.severity != .info || expected.contains(fault.kind) else { return .standard }
    lock.withLock { raised.append(fault) }
    return .ignore
  }

  func compare(_ place: Place) {
    let raised = lock.withLock { self.raised }
    guard raised.map(\.kind) != expected else { return }
    let wanted = expected.isEmpty ? "no fault" : expected.map { "\($0)" }.joined(separator: ", ")
    guard !raised.isEmpty else { return place.report("expected \(wanted), but no fault was raised") }
    place.report(
      "expected \(wanted), but \(raised.count == 1 ? "this fault was" : "\(raised.count) faults were") raised:\n"
        + raised.map(\.report).joined(separator: "\n"))
  }
}
