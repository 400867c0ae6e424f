// The expectations under XCTest, and those that Apple's XCTest has.
#if Macros
  import Foundation
  import KeyValueObserving
  import KeyValueObservingTesting
  import XCTest

  final class XCTests: XCTestCase, @unchecked Sendable {
    private var failures: [(text: String, line: Int)]?

    override func recordFailure(
      withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
    ) {
      guard failures != nil else {
        return super.recordFailure(
          withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
      }
      failures!.append((description, lineNumber))
    }

    /// Returns the failures that a body records, which then are none of this test.
    private func failures(in body: () -> Void) -> [(text: String, line: Int)] {
      failures = []
      body()
      defer { failures = nil }
      return failures!
    }

    func testExpectationsPassOrFailAtTheCaller() {
      let document = Document()
      expectChanges(of: document, \.title, ["A"]) { document.title = "A" }
      expectFault(.undefinedKey) { document.setValue(1, forKey: "colour") }
      expectNoObservations(of: document)
      let line = #line + 1
      let changes = failures { expectChanges(of: document, \.title, ["A"]) {} }
      XCTAssertEqual(changes.map(\.line), [line])
      XCTAssertTrue(changes[0].text.contains("the changes of Document.title differ"))
      let fault = failures { expectFault(.undefinedKey) {} }
      XCTAssertTrue(fault.count == 1 && fault[0].text.contains("no fault was raised"))
      let token = document.observe(\.title) { _, _ in }
      let observed = failures { expectNoObservations(of: document) }
      XCTAssertTrue(observed.count == 1 && observed[0].text.contains("this observation remains"))
      token.invalidate()
    }

    func testExpectedValue() {
      let document = SharedDocument()
      let expectation = XCTKVOExpectation(keyPath: "pages", object: document, expectedValue: 3)
      XCTAssertEqual(expectation.keyPath, "pages")
      XCTAssertEqual(expectation.expectedValue as? Int, 3)
      XCTAssertEqual(expectation.options, [.initial, .new, .old])
      XCTAssertTrue(expectation.observedObject as? SharedDocument === document)
      XCTAssertTrue(expectation.description.contains("pages of SharedDocument@0x"))
      Thread { for page in 1...3 { document.pages = page } }.start()
      wait(for: [expectation], timeout: 10)
      expectNoObservations(of: document)
    }

    func testExpectedCollectionIsWholeThoughAChangeHasElementsOnly() {
      let document = Document()
      document.tags = ["a"]
      let whole = XCTKeyPathExpectation(keyPath: \Document.tags, observedObject: document, expectedValue: ["a", "b"])
      let elements = XCTKeyPathExpectation(keyPath: \Document.tags, observedObject: document, expectedValue: ["b"])
      elements.isInverted = true
      document.mutableArrayValue(for: \.tags).append("b")
      wait(for: [whole, elements], timeout: 0.1)
    }

    func testInitialValueAndNumbersOfAnotherType() {
      let document = Document()
      document.pages = 3
      wait(for: [XCTKVOExpectation(keyPath: "pages", object: document, expectedValue: 3.0)], timeout: 1)
      let later = XCTKVOExpectation(keyPath: "pages", object: document, expectedValue: 3, options: [.new])
      XCTAssertEqual(XCTWaiter().wait(for: [later], timeout: 0.01), .timedOut)
      let again = XCTKVOExpectation(keyPath: "pages", object: document, expectedValue: 3, options: [.new])
      document.pages = 3
      wait(for: [again], timeout: 1)
    }

    func testAnyChangeHandlerAndCount() async {
      let document = Document()
      let any = XCTKVOExpectation(keyPath: "title", object: document)
      let handled = XCTKVOExpectation(keyPath: "title", object: document)
      handled.handler = { object, change in
        object is Document && change[NSKeyValueChangeKey.newKey] as? String == "B"
          && change[NSKeyValueChangeKey.oldKey] as? String == "A"
      }
      let twice = XCTKVOExpectation(keyPath: "title", object: document)
      (twice.expectedFulfillmentCount, twice.assertForOverFulfill) = (2, true)
      let never = XCTKVOExpectation(keyPath: "title", object: document, expectedValue: "Z")
      never.isInverted = true
      for title in ["A", "B", "C"] { document.title = title }
      await fulfillment(of: [any, handled, twice], timeout: 1)
      await fulfillment(of: [never], timeout: 0.01)
    }

    func testReleaseEndsTheObservation() {
      let document = Document()
      var expectation: XCTKVOExpectation? = XCTKVOExpectation(keyPath: "title", object: document)
      var typed: XCTKeyPathExpectation? = XCTKeyPathExpectation(
        keyPath: \Document.title, observedObject: document, expectedValue: "Z")
      XCTAssertTrue(expectation != nil && typed != nil)
      expectation = nil
      typed = nil
      expectFaults([]) { document.title = "A" }
      expectNoObservations(of: document)
    }

    @MainActor func testExpectationsOfTheTestCase() {
      let document = SharedDocument()
      _ = keyValueObservingExpectation(for: document, keyPath: "title", expectedValue: "B")
      _ = keyValueObservingExpectation(for: document, keyPath: "pages") { _, change in
        change[NSKeyValueChangeKey.newKey] as? Int == 2
      }
      _ = keyValueObservingExpectation(for: document, keyPath: "title", expectedValue: nil)
      _ = expectation(that: \SharedDocument.pages, on: document, willEqual: 2)
      _ = expectation(
        that: \SharedDocument.pages, on: document, willSatisfy: { object, change in change.newValue! > 1 })
      Thread {
        for title in ["A", "B"] { document.title = title }
        for page in 1...2 { document.pages = page }
      }.start()
      waitForExpectations(timeout: 10)
      expectNoObservations(of: document)
    }

    func testTypedExpectations() {
      let document = Document()
      let value = XCTKeyPathExpectation(keyPath: \Document.summary, observedObject: document, expectedValue: "A (2)")
      let satisfied = XCTKeyPathExpectation(keyPath: \Document.title, observedObject: document, options: [.new, .old]) {
        $0.pages == 2 && $1.oldValue == ""
      }
      document.pages = 2
      document.title = "A"
      wait(for: [value, satisfied], timeout: 1)
      let unfulfilled = XCTKeyPathExpectation(keyPath: \Document.pages, observedObject: document, expectedValue: 9)
      XCTAssertEqual(XCTWaiter().wait(for: [unfulfilled], timeout: 0.01), .timedOut)
    }
  }
#endif
