// Waiting for changes.

import Foundation

extension ChangeRecorder {
  /// Waits until a number of changes have been recorded.
  ///
  /// ```swift
  /// let changes = await recorder.wait(for: 3, timeout: .seconds(5))
  /// ```
  /// Changes that were recorded before count. If they do not come in time, that is an issue of the test, which lists those that came.
  ///
  /// - Parameters:
  ///   - count: How many changes to wait for.
  ///   - timeout: How long to wait.
  /// - Returns: The changes that have been recorded, which may be more. After a cancellation of the task, those that came.
  @discardableResult
  public func wait(
    for count: Int, timeout: Duration = .seconds(10), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async -> [RecordedChange] {
    await wait("\(count) \(count == 1 ? "change" : "changes")", timeout, Place(fileID, filePath, line, column)) {
      $0.count >= count
    }
  }

  /// Waits until the changes that have been recorded satisfy a condition.
  ///
  /// ```swift
  /// await recorder.wait { $0.last?.newValue as? Int == 100 }
  /// ```
  /// - Parameters:
  ///   - timeout: How long to wait. If the condition is not satisfied in time, that is an issue of the test, which lists the changes that
  ///     came.
  ///   - condition: Called with all changes: now, and after each change on the thread that makes it.
  /// - Returns: The changes that have been recorded. After a cancellation of the task, those that came.
  @discardableResult
  public func wait(
    timeout: Duration = .seconds(10), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, until condition: @escaping @Sendable ([RecordedChange]) -> Bool
  ) async -> [RecordedChange] {
    await wait("changes that satisfy the condition", timeout, Place(fileID, filePath, line, column), condition)
  }

  private func wait(
    _ what: String, _ timeout: Duration, _ place: Place, _ condition: @escaping @Sendable ([RecordedChange]) -> Bool
  ) async -> [RecordedChange] {
    let waiter = Waiter(condition)
    log.add(waiter)
    let timer = Task {
      try await Task.sleep(for: timeout)
      waiter.finish(.timedOut)
    }
    let end = await waiter.end()
    timer.cancel()
    log.remove(waiter)
    let changes = self.changes
    if end == .timedOut {
      let came = changes.isEmpty ? "none came" : "these came:\n\(Self.text(changes))"
      place.report("expected \(what) within \(timeout), but \(came)")
    }
    return changes
  }
}

/// A task that waits for changes.
final class Waiter: @unchecked Sendable {
  enum End {
    case satisfied, timedOut, cancelled
  }

  private let condition: @Sendable ([RecordedChange]) -> Bool
  private let lock = NSLock()
  private var continuation: CheckedContinuation<End, Never>?
  private var reached: End?

  init(_ condition: @escaping @Sendable ([RecordedChange]) -> Bool) { self.condition = condition }

  func look(at changes: [RecordedChange]) {
    if condition(changes) { finish(.satisfied) }
  }

  /// Ends the wait, unless it has ended already.
  func finish(_ end: End) {
    let waiting = lock.withLock {
      guard reached == nil else { return nil as CheckedContinuation<End, Never>? }
      reached = end
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: end)
  }

  func end() async -> End {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<End, Never>) in
        let end = lock.withLock {
          if reached == nil { self.continuation = continuation }
          return reached
        }
        if let end { continuation.resume(returning: end) }
      }
    } onCancel: {
      finish(.cancelled)
    }
  }
}
