// flags: -default-isolation MainActor
// A program whose code is isolated to the main actor by default (`.defaultIsolation(MainActor.self)` in a package).
import Foundation
import KeyValueObserving

@KeyValueObservable
class Document {
  var title = ""
  var list: [Int] = []
  weak var other: Document?
  @NotObserved var hidden = 0
  let constant = 1
  var summary: String { "\(title) \(list.count)" }
}

@KeyValueObservable
final class Letter: Document {
  var address = ""
}

// A subclass of a class in another module that is not isolated to the main actor needs an initializer with the same isolation.
// Swift requires that for every such class, for example Foundation's `Operation`.
class Watcher: KeyValueObject {
  var log: [String] = []
  nonisolated override init() { super.init() }
  override nonisolated func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {
    let new = change?[.newKey] as? String
    MainActor.assumeIsolated { log.append(new ?? "-") }
  }
}

@KeyValueObservable
class Model: KeyValueObject {
  var number = 1
  nonisolated override init() { super.init() }
}

// Or the class is declared as nonisolated.
@KeyValueObservable
nonisolated class Job: Operation, @unchecked Sendable {
  var progress = 0
  override var isFinished: Bool { progress == 1 }
  override func start() {
    willChangeValue(forKey: "isFinished")
    progress = 1
    didChangeValue(forKey: "isFinished")
  }
}

@main
enum Program {
  static func main() {
    let (letter, watcher, model, job) = (Letter(), Watcher(), Model(), Job())
    letter.addObserver(watcher, forKeyPath: "title", options: [.new])
    let tokens = [
      letter.observe(\.summary, options: [.new]) { _, change in
        let new = change.newValue ?? "-"
        MainActor.assumeIsolated { watcher.log.append(new) }
      },
      model.observe(\.number) { _, _ in MainActor.assumeIsolated { watcher.log.append("number") } },
      job.observe(\.isFinished) { _, _ in MainActor.assumeIsolated { watcher.log.append("finished") } },
    ]
    letter.title = "A"
    model.number = 2
    job.start()
    precondition(watcher.log == ["A 0", "A", "number", "finished"], "\(watcher.log)")
    letter.removeObserver(watcher, forKeyPath: "title")
    for token in tokens { token.invalidate() }
  }
}
