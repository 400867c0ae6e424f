// flags: | -O
// A controller's observations with every kind of isolation, of objects without isolation and of ones that threads share.
import Dispatch
import Foundation
import KeyValueObserving

@KeyValueObservable
final class Document {
  var title = ""
  var pages = 0
  var author: Author?
}

@KeyValueObservable
final class Author {
  var name = ""
}

@KeyValueObservable
final class Shared: @unchecked Sendable {
  var title = ""
  var pages = 0
  init() {}
}

@KeyValueObservable
@MainActor
final class Model {
  var title = ""
}

@MainActor
final class ViewModel {
  var log: [String] = []
  lazy var observations = KeyValueObservationController(observer: self)

  func begin(_ document: Document, _ shared: Shared, _ model: Model) {
    observations.observe(document, \.title, options: [.new]) { me, _, change in me.log.append(change.newValue!) }
    observations.observe(document, "author.name", options: [.new]) { me, document, change in
      me.log.append("\(document.pages) \(change.newValue ?? "-")")
    }
    observations.observe(document, \.title) { me, _, _ in me.changed() }
    observations.observe(document, \.title, options: .new) { me, _, change in me.titleChanged(change) }
    observations.observe(document, \.title, options: .new) { me, document, change in
      me.documentChanged(change, document)
    }
    observations.observe(document, "title") { me, _, _ in me.changed() }
    observations.observe(shared, \.title, options: [.new]) { me, _, change in me.log.append(change.newValue!) }
    observations.observe(shared, "title") { me, shared, _ in me.log.append(shared.title) }
    observations.observe(shared, \.pages) { me, _, _ in me.changed() }
    observations.observe(model, \.title, options: [.new]) { me, model, change in me.log.append(model.title) }
    observations.observe(model, \.title) { me, _, _ in me.changed() }
  }

  func changed() { log.append("changed") }
  func titleChanged(_ change: NSKeyValueObservedChange<String>) { log.append(change.newValue!) }
  func documentChanged(_ change: NSKeyValueObservedChange<String>, _ document: Document) { log.append(document.title) }
}

actor Worker {
  var log: [String] = []
  lazy var observations = KeyValueObservationController(observer: self)

  func begin(_ shared: Shared) {
    observations.observe(shared, \.title, options: [.new]) { me, _, change in me.log.append(change.newValue!) }
    observations.unobserve(shared, \.pages)
  }
}

final class Plain {
  var log: [String] = []
  private lazy var observations = KeyValueObservationController(observer: self, duplicates: .replace)

  func begin(_ document: Document, _ shared: Shared) {
    observations.observe(document, \.title, options: [.new]) { me, _, change in me.log.append(change.newValue!) }
    observations.observe(document, \.pages) { me, _, _ in me.changed() }
    observations.observe(shared, \.title) { me, shared, _ in me.log.append(shared.title) }
    observations.observe(shared, \.pages) { me, _, _ in me.changed() }
  }

  func changed() { log.append("changed") }
}

/// Nonisolated, and shared by threads.
final class Listener: Sendable {
  func changed() {}
}

final class Classic: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {}
}

@main
enum Program {
  @MainActor static func main() async {
    let (document, shared, model) = (Document(), Shared(), Model())
    let viewModel = ViewModel()
    viewModel.begin(document, shared, model)
    document.title = "A"
    precondition(viewModel.log.count == 5, "\(viewModel.log)")
    model.title = "M"
    precondition(viewModel.log.suffix(2) == ["changed", "M"])
    viewModel.log = []
    await Task.detached { shared.title = "B" }.value
    while viewModel.log.count < 2 { await Task.yield() }
    let worker = Worker()
    await worker.begin(shared)
    await Task.detached { shared.title = "C" }.value
    while await worker.log != ["C"] { await Task.yield() }
    let plain = Plain()
    plain.begin(document, shared)
    plain.begin(document, shared)
    document.title = "D"
    precondition(plain.log == ["D"])
    await Task.detached {
      let listener = Listener()
      let controller = KeyValueObservationController(observer: listener)
      controller.observe(shared, \.title) { me, _, _ in me.changed() }
      controller.observe(shared, "title") { me, _, _ in me.changed() }
      controller.observe(shared, \.pages) { me, _, _ in me.changed() }
      shared.pages = 2
      controller.unobserveAll()
      let classic = Classic()
      shared.addObserver(classic, forKeyPath: "title", options: [.new, .endsWithObserver, .distinct], userInfo: 1)
      shared.removeObserver(classic)
      classic.removeFromAllObservedObjects()
      shared.title = "E"
    }.value
  }
}
