// The code of Documentation/Observing.md as a client program. Its output is the one in the comments there.
import KeyValueObserving
import Testing

// declarations: classes
// declarations: classic
// declarations: collections
// declarations: by hand
// snippet: isolation

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Observing.md") struct ObservingGuideTests {
  // In a function, because all objects are deallocated when it returns: an observation that is still registered would end the
  // process.
  @Test func `The guide's code prints the output in its comments, and leaves no observations`() {
    // statements: classes
    // statements: classic
    // statements: collections
    // statements: coding
    // statements: by hand
    #expect(
      printed
      // prints: classic, collections, coding, by hand
    )
  }

  @Test @MainActor func `The main-actor slider follows its settings`() {
    let settings = Settings()
    let slider = Slider(settings)
    settings.volume = 7
    #expect(slider.position == 7)
  }
}
