// README.md's code, as a program that a client would write; what it prints is what the comments there say.
import KeyValueObserving
import Testing

// declarations: first
// declarations: observing

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("README") struct ReadmeTests {
  // In a function all objects die when it returns: what is still registered then would end the process.
  @Test func `README's code prints the output in its comments, and leaves no observations`() {
    // statements: first
    // statements: observing
    #expect(
      printed
      // prints: first, observing
    )
  }
}
