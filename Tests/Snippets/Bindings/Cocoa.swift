// The form of Documentation/Bindings.md as a client program. Its output is the one in the comments there.
import Foundation
import KeyValueObserving
import Testing

// declarations: form

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Bindings.md, Cocoa Bindings") struct FormTests {
  @Test func `The form prints the output in its comments`() {
    // statements: bound
    #expect(
      printed
      // prints: bound
    )
  }
}
