// Documents, authors and panels: the model of the scenarios.
internal import CCrashScenarios
import Foundation
import KeyValueObserving
import Synchronization

@KeyValueObservable
class Document {
  var title: String
  var pages = 0
  var author: Author?
  var authors: [Author] = []
  /// Announced manually.
  var wordCount = 0
  var words: [String] = ["one", "two"]
  /// Reads no observed property.
  var age: Int { title.isEmpty ? 0 : 1 }

  init(_ title: String) { self.title = title }

  class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "wordCount" && key != "words" }
}

@KeyValueObservable
final class Author {
  var name: String
  init(_ name: String) { self.name = name }
}

/// The classic observer: counts its calls and runs a closure.
class Panel: KeyValueObserver {
  var calls = 0
  var then: ((Panel, [NSKeyValueChangeKey: Any]) -> Void)?

  init(then: ((Panel, [NSKeyValueChangeKey: Any]) -> Void)? = nil) { self.then = then }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    calls += 1
    then?(self, change ?? [:])
  }
}

/// A thread-safe counter.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)
  var value: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

/// A value that the scenario itself protects, with a lock or by its order of execution.
final class Unguarded<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// Records a failed condition, so that the scenario fails.
func check(_ holds: Bool, file: StaticString = #fileID, line: UInt32 = #line) {
  if holds { return }
  file.withUTF8Buffer { file in
    file.withMemoryRebound(to: CChar.self) { kvo_crash_check(false, "the line says", $0.baseAddress!, line) }
  }
}

/// Runs a body on several threads at the same time, with the index of each, and waits for them.
func inThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  withoutActuallyEscaping(body) { body in
    withUnsafePointer(to: body) { pointer in
      kvo_crash_in_threads(
        count, { index, body in body!.assumingMemoryBound(to: (@Sendable (Int) -> Void).self).pointee(index) },
        UnsafeMutableRawPointer(mutating: pointer))
    }
  }
}

/// Waits until a condition holds, at most some seconds.
func waitUntil(_ condition: () -> Bool, file: StaticString = #fileID, line: UInt32 = #line) {
  for _ in 0..<10_000 where !condition() { usleep(1000) }
  check(condition(), file: file, line: line)
}
