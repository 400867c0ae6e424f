// flags: -default-isolation MainActor
// A program whose code is isolated to the main actor by default (`.defaultIsolation(MainActor.self)` in a package): its classes, and
// the everyday layer.
import Foundation
import KeyValueObserving

@KeyValueObservable
class Document {
  var title = ""
  var pages = 0
  var list: [Int] = []
  var author: Document?
  weak var other: Document?
  @NotObserved var hidden = 0
  let constant = 1
  var summary: String { "\(title) \(pages)" }
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

@KeyValueObservable
nonisolated final class Shared: @unchecked Sendable {
  var percent = 0
  init() {}
}

final class ViewModel {
  var log: [String] = []
  var tokens: Set<NSKeyValueObservation> = []

  func observe(_ document: Document, _ shared: Shared) {
    document.observe(\.title, options: [.new], for: self) { me, document, change in me.log.append(change.newValue!) }
    document.onChange(of: \.summary, initial: true, for: self) { me, old, new in me.log.append(new) }
    document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.log.append("\(new.0) \(new.1)") }
    document.onChange(of: \.author?.title, for: self) { me, old, new in me.log.append(new ?? "-") }
    document.observeAll(for: self) { me, document, key, change in me.log.append(key) }
    document.onChange(of: \.title) { [weak self] old, new in self?.log.append(new) }.store(in: &tokens)
    shared.onChange(of: \.percent, for: self) { me, old, new in me.log.append("\(new)") }
    shared.source(\.percent).delivered(on: DispatchQueue.main).coalesced().observe(for: self) {
      @MainActor me, _ in me.log.append("main")
    }
    document.source("title").observe(for: self) { me, change in me.log.append("string") }
    document.onDeinit {}
    document.stopObserving(\.title, for: self)
    withCoalescedChanges(of: document) {
      document.title = "A"
      document.pages = 3
    }
    withoutNotifying(document) { document.title = "B" }
  }
}

actor Worker {
  var steps: [Int] = []
  func watch(_ shared: Shared) { shared.onChange(of: \.percent, for: self) { me, old, new in me.steps.append(new) } }
  func count() -> Int { steps.count }
}

@main
enum Program {
  static func main() async {
    classes()
    await receivers()
  }

  static func classes() {
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

  static func receivers() async {
    let document = Document()
    let shared = Shared()
    let view = ViewModel()
    let worker = Worker()
    await worker.watch(shared)
    view.observe(document, shared)
    document.title = "C"
    let count = view.log.count
    await Task.detached { for i in 1...10 { shared.percent = i } }.value
    while await worker.count() < 10 { await Task.yield() }
    while !view.log.contains("10") { await Task.yield() }
    precondition(count == 10, "changes on the main actor are delivered at once: \(view.log)")
    precondition(view.log.filter { Int($0) != nil } == (1...10).map { "\($0)" }, "the others in order: \(view.log)")
  }
}
