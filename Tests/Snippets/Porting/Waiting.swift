// The code of Documentation/Porting.md: tests that wait for a change.
import KeyValueObserving
import Testing
import XCTest

@KeyValueObservable
private final class Upload: @unchecked Sendable {
  var state = 0
}

// snippet: expectation

@Suite("The porting guide: tests that wait")
struct GuideWaitingTests {
  @Test @MainActor func `An expectation is fulfilled when a key path has the expected value`() async {
    let upload = Upload()
    let test = XCTestCase(name: "waiting") { _ in }
    let met = test.keyValueObservingExpectation(for: upload, keyPath: \.state, expectedValue: 2)
    let never = test.keyValueObservingExpectation(for: upload, keyPath: \.state, expectedValue: 3)
    DispatchQueue.global().async { upload.state = 2 }
    #expect(await XCTWaiter.fulfillment(of: [met], timeout: 10) == .completed)
    #expect(await XCTWaiter.fulfillment(of: [never], timeout: 0.01) == .timedOut)
  }
}
