// The code of Documentation/Everyday.md as a client program. Its output is the one in the comments there.
import Foundation
import KeyValueObserving
import Observation
import Testing

// declarations: classes
// declarations: receivers
// snippet: isolation

nonisolated(unsafe) private var printed: [String] = []

private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  printed.append(items.map { "\($0)" }.joined(separator: separator))
}

@Suite("Everyday.md") struct EverydayGuideTests {
  @Test func `The guide's code prints the output in its comments`() async {
    // statements: receivers
    // statements: bag
    // statements: delivery
    // statements: fewer
    // statements: streams
    // statements: observed
    #expect(
      printed
      // prints: receivers, bag, delivery, fewer, streams, observed
    )
  }

  @Test @MainActor func `The view and the statistics follow the download`() async {
    let (download, view, statistics) = (Download(), DownloadView(), Statistics())
    view.show(download)
    await statistics.watch(download)
    download.percent = 1
    #expect(view.label == "1 %")
    await Task.detached { for percent in 2...100 { download.percent = percent } }.value
    while view.label != "100 %" { await Task.yield() }
    while await statistics.steps.count < 100 { await Task.yield() }
  }
}
