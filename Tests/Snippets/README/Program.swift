// The code of README.md as a client program. Its output is the one in the comments there.
import KeyValueObserving
import Testing

// declarations: first
// declarations: observing
// snippet: actors

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("README") struct ReadmeTests {
  // In a function, because all objects are deallocated when it returns: an observation that is still registered would end the
  // process.
  @Test func `README's code prints the output in its comments, and leaves no observations`() {
    // statements: first
    // statements: observing
    #expect(
      printed
      // prints: first, observing
    )
  }

  @Test @MainActor func `The view shows what the worker does`() async {
    let (download, view) = (Download(), DownloadView())
    view.show(download)
    await Worker().run(download)
    while view.label != "100 %" { await Task.yield() }
  }
}
