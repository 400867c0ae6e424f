// The code of Documentation/Bindings.md as a client program. Its output is the one in the comments there.
import Foundation
import KeyValueObserving
import Testing

// declarations: classes

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Bindings.md: the code prints the output in its comments", .serialized) struct BindingsGuideTests {
  private let document = Document()
  private let other = Document()
  private let window = Window()

  init() { printed = [] }

  @Test func `Sources`() {
    // snippet: sources
    #expect(
      printed
      // prints: sources
    )
    document.pages = 302
    #expect(window.caption == "302 pages")
  }

  @Test func `Bindings`() {
    // snippet: bindings
    #expect(
      printed
      // prints: bindings
    )
  }
}
