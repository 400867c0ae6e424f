// The code of Documentation/Leaks.md as a client program. Its output is the one in the comments there.
import KeyValueObserving
import Testing

// declarations: cycle

private nonisolated(unsafe) var printed: [String] = []

private func print(_ item: String) { printed.append(item) }

@Suite("Leaks.md: the code prints the output in its comments") struct LeaksTests {
  @Test func `The cycle to avoid`() {
    // statements: cycle
    #expect(
      printed
      // prints: cycle
    )
  }
}
