// Runs the examples and the remedies of Documentation/Faults: an example raises its page's fault, with the first line that the
// page shows; its remedy raises none. KVO_BLESS_PAGES=1 writes the lines into the pages instead.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The examples of the pages of faults", .serialized)
  struct PageTests {
    /// Looked for only if `KVO_POLICY` named them when the process began.
    private static let onDemand: Set<Int> = [19]

    /// - Parameters:
    ///   - code: The number of the page's fault.
    ///   - example: Raises it, and nothing else.
    ///   - remedy: Raises nothing.
    func page(_ code: Int, example: () -> Void, remedy: () -> Void) throws {
      if Self.onDemand.contains(code) { return }
      let raised = Recorder().record(example)
      #expect(raised.map(\.code) == [code])
      let first = try #require(raised.first)
      try FaultPage(code).expectReport(first.summary)
      #expect(Recorder().record(remedy).map(\.summary) == [])
    }
  }

  /// Notes the faults of an example.
  final class Recorder: @unchecked Sendable {
    @TaskLocal static var current: Recorder?
    private let lock = NSLock()
    private var faults: [KeyValueFault] = []

    @discardableResult
    func record(_ body: () -> Void) -> [KeyValueFault] {
      Self.$current.withValue(self) {
        KeyValueFault.withHandler { fault in
          lock.withLock { faults.append(fault) }
          return .ignore
        } in: {
          body()
        }
      }
      return lock.withLock { faults }
    }
  }
#endif
