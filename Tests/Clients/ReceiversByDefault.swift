// flags: -default-isolation MainActor
// The everyday layer in a program whose code is isolated to the main actor by default.
import Foundation
import KeyValueObserving

@KeyValueObservable
class Document {
  var title = ""
  var pages = 0
  var author: Document?
  var summary: String { "\(title) \(pages)" }
}
@KeyValueObservable
nonisolated final class Shared: @unchecked Sendable {
  var percent = 0
  init() {}
}
final class ViewModel {
  var log: [String] = []
  var tokens: Set<NSKeyValueObservation> = []
  lazy var controller = KeyValueObservationController(observer: self)
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
    controller.observe(document, \.title) { me, document, change in me.log.append("controller") }
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
struct Program {
  static func main() async {
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
