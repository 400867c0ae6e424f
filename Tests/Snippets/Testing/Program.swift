// The code of Documentation/Testing.md as a client's tests.
import Foundation

// snippet: classes
// snippet: xctest

@Suite("Testing.md") struct TestingGuideTests {
  // snippet: changes
  // snippet: recorder
  // snippet: waiting
  // snippet: faults
  // snippet: observations

  // The other one has to be run on the main thread, by XCTest: scripts/check-snippets.sh --package does.
  @Test func `The first XCTest case passes`() {
    let test = LoadingTests(name: "of the guide") { ($0 as! LoadingTests).testLoading() }
    test.run()
    #expect(test.testRun?.hasSucceeded == true)
  }
}
