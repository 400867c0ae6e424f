// README.md's code, as a program that a client would write; what it prints is what the comments there say.
import KeyValueObserving
import Testing

// declarations: first
// declarations: observing
// declarations: classic
// declarations: collections
// snippet: isolation

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("README") struct ReadmeTests {
  // In a function all objects die when it returns: what is still registered then would end the process.
  @Test func `README's code prints what its comments say, and leaves nothing behind`() {
    // statements: first
    // statements: observing
    // statements: classic
    // statements: collections
    // statements: coding
    #expect(
      printed
      // prints: first, observing, classic, collections, coding
    )
  }

  @Test @MainActor func `README's main-actor slider follows its settings`() {
    let settings = Settings()
    let slider = Slider(settings)
    settings.volume = 7
    #expect(slider.position == 7)
  }
}
