// The issues that an expectation records.
import Foundation
import Testing

/// An issue, as the caller sees it.
struct Recorded: Sendable {
  let text: String
  let line: Int?
}

private final class Collected: @unchecked Sendable {
  private let lock = NSLock()
  private var issues: [Recorded] = []

  var all: [Recorded] { lock.withLock { issues } }

  func add(_ issue: Issue) -> Bool {
    let text = issue.comments.map(\.rawValue).joined(separator: "\n")
    lock.withLock { issues.append(Recorded(text: text, line: issue.sourceLocation?.line)) }
    return true
  }
}

/// Calls a function that has to fail, and returns the issues.
func issues(_ body: () throws -> Void) rethrows -> [Recorded] {
  let collected = Collected()
  try withKnownIssue(isIntermittent: true) {
    try body()
  } matching: {
    collected.add($0)
  }
  return collected.all
}

func issues(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async rethrows -> [Recorded]
{
  let collected = Collected()
  try await withKnownIssue(isIntermittent: true) {
    try await body()
  } matching: {
    collected.add($0)
  }
  return collected.all
}
