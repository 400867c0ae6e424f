// The code of Documentation/Recipes.md as a client program. Its output is the one in the comments there.
import Dispatch
import Foundation
import KeyValueObserving
import Testing

// declarations: undo
// declarations: progress
// snippet: autosave
// declarations: spreadsheet
// declarations: list
// snippet: settings
// declarations: any

private let printed = Printed()

private final class Printed: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  func add(_ line: String) { lock.withLock { lines.append(line) } }
  func take() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.add(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Recipes.md: the code prints the output in its comments", .serialized) struct RecipesTests {
  @Test func `Undo`() {
    // statements: undo
    let taken = printed.take()
    #expect(
      taken
      // prints: undo
    )
  }

  @Test func `Progress`() {
    // statements: progress
    let taken = printed.take()
    #expect(
      taken
      // prints: progress
    )
    bar.invalidate()
  }

  @MainActor
  @Test func `Saving a moment after the last change`() async throws {
    // snippet: autosave-use
    let taken = printed.take()
    #expect(
      taken
      // prints: autosave-use
    )
  }

  @Test func `A spreadsheet`() {
    // statements: spreadsheet
    let taken = printed.take()
    #expect(
      taken
      // prints: spreadsheet
    )
    shown.invalidate()
  }

  @Test func `A list view`() {
    // statements: list
    let taken = printed.take()
    #expect(
      taken
      // prints: list
    )
    rows.invalidate()
  }

  @Test func `Settings from JSON`() throws {
    // snippet: settings-use
    let taken = printed.take()
    #expect(
      taken
      // prints: settings-use
    )
  }

  @Test func `An observer on any model`() {
    // statements: any
    let taken = printed.take()
    #expect(
      taken
      // prints: any
    )
  }
}
