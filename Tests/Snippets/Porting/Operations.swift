// The code of Documentation/Porting.md: an asynchronous operation, and a queue that runs it.
import Foundation
import KeyValueObserving
import Testing

// snippet: operation

private final class Wait: AsyncOperation, @unchecked Sendable {
  override func main() { DispatchQueue.global().async { self.finish() } }
}

@Suite("Ported operations", .timeLimit(.minutes(1)))
struct GuideOperationTests {
  @Test func `The queue finishes, and observers are notified once of each state`() {
    let (queue, operation) = (OperationQueue(), Wait())
    nonisolated(unsafe) var delivered: [String] = []
    let tokens = [
      operation.observe(\.isExecuting, options: [.new]) { delivered.append("executing \($1.newValue!)") },
      operation.observe(\.isFinished, options: [.new]) { delivered.append("finished \($1.newValue!)") },
    ]
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    #expect(delivered == ["executing true", "executing false", "finished true"])
    for token in tokens { token.invalidate() }
  }
}
