// The code of Documentation/GettingStarted.md as a client program. Its output is the one in the comments there.
import KeyValueObservingTesting
import Testing

// snippet: model
// snippet: screen
// snippet: path
// snippet: list
// snippet: actor
// snippet: fault

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Getting started", .serialized) struct GettingStartedTests {
  init() { printed = [] }

  @Test func `The code of Getting started prints the output in its comments`() {
    // snippet: first
    // snippet: initial
    // snippet: options
    // snippet: ends
    // snippet: token
    // snippet: paths
    // snippet: lists
    #expect(
      printed
      // prints: first, initial, options, ends, token, paths, lists
    )
  }

  @Test @MainActor func `The view shows what a detached task does`() async {
    // snippet: transfer
    #expect(
      printed
      // prints: transfer
    )
  }

  @Test func `The removal of an observer that was never added is KVO0002`() {
    expectFault(.notRegistered) { forget(Account(owner: "Jane")) }
  }
}
