// Objects of C in Swift, observers in C, and logs of both.
#if Macros
  import CKVO
  import CSupport
  import Foundation
  import KeyValueObserving
  import Testing

  /// Returns a new C object of the class "CShape", which lives until the process ends.
  func makeShape() -> (object: KeyValueRuntimeObject, pointer: UnsafeMutablePointer<csupport_shape>) {
    let shape = csupport_shape_create()
    let header = UnsafeMutableRawPointer(shape).assumingMemoryBound(to: kvo_object.self)
    return (KeyValueRuntimeObject(borrowing: header), shape)
  }

  /// An observer in C that writes down what it is notified of.
  final class CWatcher {
    private let watcher = UnsafeMutablePointer<csupport_watcher>.allocate(capacity: 1)
    init() { watcher.initialize(to: csupport_watcher()) }
    deinit { watcher.deallocate() }

    var destroyed: Int32 { watcher.pointee.destroyed }
    var lines: [String] {
      withUnsafeBytes(of: watcher.pointee.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        .split(separator: ";").map(String.init)
    }

    /// Observes key paths until the object is deallocated, and returns whether it could.
    func watch(_ object: some KeyValueObservable, _ keyPaths: String...) -> Bool {
      keyPaths.allSatisfy { csupport_watch(watcher, object.keyValueObject, $0) == KVO_OK }
    }
  }

  /// Used on the test's own thread only.
  final class Lines: @unchecked Sendable {
    private(set) var all: [String] = []
    func add(_ line: String) { all.append(line) }
  }

  /// Returns the codes and the first lines of the faults that a body raises, which are ignored.
  func faults(_ body: () -> Void) -> [(code: Int, summary: String)] {
    var raised: [(code: Int, summary: String)] = []
    KeyValueFault.withHandler { fault in
      raised.append((fault.code, fault.summary))
      return .ignore
    } in: {
      body()
    }
    return raised
  }

  /// Writes the codes of faults to the standard error in an exit test, and goes on after them.
  func writeFaultCodes() {
    KeyValueFault.setHandler { fault in
      FileHandle.standardError.write(Data("fault \(fault.code)\n".utf8))
      return .ignore
    }
  }

  func hasFault(_ code: Int, _ result: ExitTest.Result?) -> Bool {
    result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("fault \(code)\n") } == true
  }
#endif
