// How a failed expectation becomes an issue of the test that runs: of Swift Testing or of XCTest.

#if canImport(Testing)
  internal import Testing
#endif
#if canImport(XCTest)
  internal import XCTest
#endif

/// The source location of an expectation.
struct Place: Sendable {
  let fileID: StaticString
  let filePath: StaticString
  let line: UInt
  let column: UInt

  init(_ fileID: StaticString, _ filePath: StaticString, _ line: UInt, _ column: UInt) {
    (self.fileID, self.filePath, self.line, self.column) = (fileID, filePath, line, column)
  }

  /// Records one issue here.
  func report(_ text: String) {
    #if canImport(Testing)
      if isSwiftTesting {
        let place = Testing.SourceLocation(
          fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
        _ = Issue.record(Comment(rawValue: text), sourceLocation: place)
        return
      }
    #endif
    #if canImport(XCTest)
      XCTFail(text, file: filePath, line: line)
    #endif
  }
}

#if canImport(Testing)
  /// Whether Swift Testing runs the tests. In a detached task or on a thread of its own there is no current test, and the arguments of the
  /// process decide: `swift test` starts one process for each of the two.
  private var isSwiftTesting: Bool {
    if Test.current != nil { return true }
    let arguments = CommandLine.arguments
    let option = arguments.firstIndex(of: "--testing-library")
    return option.map { arguments[($0 + 1)...].first == "swift-testing" } ?? false
  }
#endif
