// flags: -strict-memory-safety
// A program with strict memory safety (`.strictMemorySafety()` in a package): the generated code causes no warnings.
import Foundation
import KeyValueObserving
import Synchronization

@KeyValueObservable
public class Document {
  var title = ""
  var list: [Int] = []
  weak var other: Document?
  unowned var owner: Document?
  var limited = 0 {
    willSet { heard.append("will \(newValue)") }
    didSet { if limited < oldValue { limited = oldValue } }
  }
  @NotObserved var heard: [String] = []
  let lock = Mutex(0)
  let constant = 1
  var handler: (() -> Void)?
  var summary: String { "\(title) \(list.count)" }
}

@KeyValueObservable
final class Letter: Document {
  var address = ""
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
}

@KeyValueObservable
final class Box<Value: Codable & Sendable>: Codable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

@KeyValueObservable
class Derived: KeyValueObject {
  var number = 1
}

@KeyValueObservable
final class Job: Operation, @unchecked Sendable {
  var progress = 0
  override var isFinished: Bool { progress == 1 }
  class func keyPathsForValuesAffectingIsFinished() -> Set<String> { ["progress"] }
}

/// The changes that observers received.
final class Log: Sendable {
  private let delivered = Mutex<[String]>([])
  var lines: [String] { delivered.withLock { $0 } }
  func add(_ line: String) { delivered.withLock { $0.append(line) } }
}

@main
enum Program {
  static func main() {
    let letter = Letter()
    let log = Log()
    let tokens = [
      letter.observe(\.title, options: [.old, .new]) { _, change in log.add(change.newValue ?? "") },
      letter.observe(\.summary, options: [.new]) { _, change in log.add(change.newValue ?? "") },
    ]
    letter.title = "A"
    letter.mutableArrayValue(for: \.list).append(1)
    letter.setValue("B", forKey: "title")
    letter.willChangeValue(for: \.constant)
    letter.didChangeValue(for: \.constant)
    precondition(log.lines == ["A 0", "A", "A 1", "B 1", "B"], "\(log.lines)")
    for token in tokens { token.invalidate() }
    _ = (Box(1), Derived(), Job())
  }
}
