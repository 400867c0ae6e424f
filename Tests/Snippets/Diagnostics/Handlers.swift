// The code of Documentation/Diagnostics.md.
import KeyValueObserving
import Testing

@KeyValueObservable
private final class Document {
  var title = ""
}

private final class Panel: KeyValueObject {}

nonisolated(unsafe) private var printed: [String] = []

private func print(_ report: String) { printed.append(report) }

@Suite("The guide to diagnostics", .serialized) struct DiagnosticsTests {
  private let document = Document()
  private let panel = Panel()

  @Test func `The handler of the process receives each report`() {
    // snippet: handler
    document.observe(\.title) { _, _ in }.invalidate()
    KeyValueFault.withHandler { _ in
      .standard
    } in: {
      document.addObserver(panel, forKeyPath: "title")
      document.addObserver(panel, forKeyPath: "title", context: .init(bitPattern: 1))
      document.removeObserver(panel, forKeyPath: "title")  // KVO0016: it fits both
    }
    document.removeObserver(panel, forKeyPath: "title")
    KeyValueFault.setHandler(nil)
    #expect(printed.contains { $0.hasPrefix("KVO0016 warning") })
  }

  @Test func `A handler for a closure verifies a fault in a test`() {
    // snippet: test
  }
}
