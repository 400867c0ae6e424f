// Runs the examples and the remedies of Documentation/Faults: an example raises its page's fault with the first line shown on the
// page; its remedy raises none. KVO_BLESS_PAGES=1 writes the lines to the pages instead.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("The examples of the pages of faults", .serialized)
  struct PageTests {
    let panel = Panel()

    /// The codes that are only detected if `KVO_POLICY` names them when the process starts.
    private static let onDemand: Set<Int> = [19]

    /// - Parameters:
    ///   - code: The number of the page's fault.
    ///   - example: Code that raises this fault only.
    ///   - remedy: Code that raises no fault.
    func page(_ code: Int, example: () -> Void, remedy: () -> Void) {
      if Self.onDemand.contains(code) { return }
      let raised = Recorder().record(example)
      #expect(raised.map(\.code) == [code])
      if let first = raised.first {
        #expect(throws: Never.self) { try FaultPage(code).expectReport(first.summary) }
      }
      #expect(Recorder().record(remedy).map(\.summary) == [], "\(code)")
    }
  }

  /// Records the faults of an example.
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
