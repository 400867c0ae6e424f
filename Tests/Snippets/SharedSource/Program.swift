// The code of Documentation/SharedSource.md as a client program: its half for Linux. Its output is the one in the comments there.
import Testing

// snippet: model
// declarations: use

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("One source for two platforms") struct SharedSourceTests {
  @Test func `The code of the guide prints the output in its comments`() {
    // statements: use
    #expect(
      printed
      // prints: use
    )
  }
}
