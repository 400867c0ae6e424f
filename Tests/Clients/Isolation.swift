// flags: | -O
// Receivers with every kind of isolation: each observes a class without isolation, one that threads
// share, and one of the main actor.
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
  private let lock = NSLock()
  @NotObserved private var storedTitle = ""
  var title: String {
    get { lock.withLock { storedTitle } }
    set {
      willChangeValue(for: \.title)
      lock.withLock { storedTitle = newValue }
      didChangeValue(for: \.title)
    }
  }
  var pages = 0
  var author: Author?

  init() {}
}

@KeyValueObservable
@MainActor
final class Model {
  var title = ""
  var pages = 0
  var author: Author?
}

@MainActor
final class Label {
  var text = ""
}

@MainActor
final class ViewModel {
  let label = Label()
  let document = Document()
  let shared = Shared()
  let model = Model()
  var count = 0
  var tokens: [NSKeyValueObservation] = []
  var set: Set<NSKeyValueObservation> = []
  var log: [String] = []

  func observeStrings() {
    document.source("title").observe(options: [.new], for: self) { me, change in me.log.append("\(change.newValue!)") }
    document.source("author.name", as: String?.self).observe(options: [.new], for: self) { me, change in
      me.log.append("\(me.document.pages) \((change.newValue ?? nil) ?? "-")")
    }
    document.observe(\.pages, options: .new, for: self) { me, document, change in me.changed(change, document) }
    shared.source("pages", as: Int.self).observe(options: [.new], for: self) { me, change in
      me.log.append("\(change.newValue!)")
    }
    shared.source("pages").observe(for: self) { me, _ in me.log.append("pages \(me.shared.pages)") }
    model.source("title").observe(for: self) { me, _ in me.log.append(me.model.title) }
  }

  func changed(_ change: NSKeyValueObservedChange<Int>, _ document: Document) { log.append("\(change.newValue!)") }

  func observe() {
    document.observe(\.title, options: [.new], for: self) { me, document, change in
      me.label.text = change.newValue ?? ""
      document.pages += 1
      me.count += 1
    }
    document.observe(\.author, options: [.new], for: self) { me, _, change in
      me.count += 1
      me.label.text = change.newValue??.name ?? "-"
    }
    shared.observe(\.pages, options: [.new], for: self) { me, _, change in me.label.text = "\(change.newValue!)" }
    shared.observe(\.author, for: self) { me, _, _ in me.count += 1 }
    model.observe(\.title, options: [.new], for: self) { me, model, change in
      me.label.text = change.newValue ?? ""
      model.pages += 1
    }
    model.observe(\.author, for: self) { me, _, _ in me.count += 1 }
    document.onChange(of: \.title, initial: true, for: self) { me, _, new in me.label.text = new }
    shared.onChange(of: \.title, initial: true, for: self) { me, _, new in me.label.text = new }
    model.onChange(of: \.title, initial: true, for: self) { me, _, new in me.label.text = new }
    document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.label.text = "\(new.0) \(new.1)" }
    shared.source(\.title, \.pages).onChange(for: self) { me, _, new in me.label.text = "\(new.0) \(new.1)" }
    model.source(\.title, \.pages).onChange(for: self) { me, _, new in me.label.text = "\(new.0) \(new.1)" }
    document.observeAll(for: self) { me, _, key, _ in me.label.text = key }
    let author = Author()
    document.onChange(of: \.title) { [weak self] _, new in
      self?.count += 1
      author.name = new
    }.store(in: &tokens)
    shared.onChange(of: \.title) { [weak self] _, _ in self?.count += 1 }.store(in: &tokens)
    model.onChange(of: \.title) { [weak self] _, _ in self?.count += 1 }.store(in: &set)
    shared.source(\.title).delivered(on: DispatchQueue.global()).coalesced().observe(for: self) { _, _ in }
    shared.source(\.title).delivered(on: MainActor.shared).onChange(for: self) { @MainActor me, _, new in
      me.label.text = new
    }
  }
}

/// Without isolation, and not for several threads.
final class Plain {
  var count = 0
  let document = Document()
  let shared = Shared()

  func observe() {
    for _ in 1...2 {
      document.stopObserving("author", for: self)
      document.source("author").observe(for: self) { me, _ in me.count += 1 }
    }
    document.observe(\.title, options: [.new], for: self) { me, document, _ in
      me.count += 1
      document.pages += 1
    }
    shared.observe(\.title, options: [.new], for: self) { me, _, _ in me.count += 1 }
    shared.observe(\.author, for: self) { me, _, _ in me.count += 1 }
    document.onChange(of: \.title, for: self) { me, _, _ in me.count += 1 }
    document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.count += new.1 }
  }
}

/// Without isolation, and for several threads.
final class Counter: Sendable {
  let shared = Shared()
  let count = Count()

  func observe() {
    shared.observe(\.title, options: [.new], for: self) { me, _, _ in me.count.add() }
    shared.onChange(of: \.title, for: self) { me, _, _ in me.count.add() }
    shared.source(\.title, \.pages).onChange(for: self) { me, _, _ in me.count.add() }
    Task.detached { [shared] in
      shared.observe(\.title, for: self) { me, _, _ in me.count.add() }
    }
  }
}

final class Count: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  var value: Int { lock.withLock { count } }
  func add() { lock.withLock { count += 1 } }
}

actor Worker {
  var titles: [String] = []
  var count = 0
  var pages: [Int] = []
  let document = Document()

  func observe(_ shared: Shared) {
    shared.source("pages", as: Int.self).observe(options: [.new], for: self) { me, change in
      me.pages.append(change.newValue!)
    }
    shared.observe(\.title, options: [.new], for: self) { me, _, change in me.titles.append(change.newValue!) }
    document.observe(\.title, for: self) { me, document, _ in
      me.count += 1
      document.pages += 1
    }
    document.onChange(of: \.title, for: self) { me, _, _ in me.count += 1 }
    document.source(\.title, \.pages).onChange(for: self) { me, _, new in me.count += new.1 }
    document.title = "A"
  }
}

func observe(_ shared: Shared, for worker: Worker) {
  shared.observe(\.pages, options: [.new], for: worker) { me, _, _ in me.count += 100 }
  shared.onChange(of: \.pages, for: worker) { me, _, _ in me.count += 1000 }
}

@globalActor
actor Background {
  static let shared = Background()
}

@Background
final class Indexer {
  var count = 0
  let document = Document()

  func observe(_ shared: Shared) {
    document.observe(\.title, for: self) { me, _, _ in me.count += 1 }
    shared.observe(\.title, for: self) { me, _, _ in me.count += 1 }
    shared.source(\.title, \.pages).onChange(for: self) { me, _, new in me.count += new.1 }
    document.title = "A"
  }
}

func check(_ condition: Bool, _ message: String, line: Int = #line) {
  guard !condition else { return }
  print("Isolation.swift:\(line): \(message)")
  exit(1)
}

func eventually(_ message: String, line: Int = #line, _ condition: @Sendable () async -> Bool) async {
  for _ in 0..<10_000 {
    if await condition() { return }
    try? await Task.sleep(nanoseconds: 1_000_000)
  }
  check(false, message, line: line)
}

@main
struct Program {
  static func main() async {
    await onTheMainActor()
    let plain = Plain()
    plain.observe()
    plain.document.title = "A"
    check(plain.count == 3, "plain \(plain.count)")
    plain.shared.title = "A"
    check(plain.count == 4, "plain \(plain.count)")
    plain.document.author = nil
    check(plain.count == 5, "plain, with a string: \(plain.count)")

    let counter = Counter()
    counter.observe()
    counter.shared.title = "A"
    check(counter.count.value >= 3, "counter \(counter.count.value)")

    let (worker, shared) = (Worker(), Shared())
    await worker.observe(shared)
    check(await worker.count == 3, "worker \(await worker.count)")
    for number in 1...100 { shared.title = "\(number)" }
    // A computed property is read on the actor, once for all changes before.
    await eventually("the worker gets the last title") { await worker.titles.last == "100" }
    observe(shared, for: worker)
    shared.pages = 1
    await eventually("the worker is notified from outside") { await worker.count == 1103 }
    await eventually("the worker is notified of a string key path") { await worker.pages == [1] }

    let indexer = await Indexer()
    await indexer.observe(shared)
    check(await indexer.count == 1, "indexer")
    shared.title = "x"
    await eventually("the indexer is notified from outside") { await indexer.count == 3 }
  }

  @MainActor
  static func onTheMainActor() async {
    let view = ViewModel()
    view.observe()
    view.document.title = "A"
    check(view.count == 2 && view.document.pages == 1, "a change on the main actor is delivered at once: \(view.count)")
    view.model.title = "B"
    check(view.model.pages == 1, "a change of the model is delivered at once")
    let shared = view.shared
    await Task.detached {
      for number in 1...100 { shared.pages = number }
    }.value
    await eventually("the last change arrives") { await view.label.text.hasSuffix("100") }
    view.shared.pages = 7
    check(view.label.text.hasSuffix("7"), "a change on the main actor is delivered at once, after those that waited")

    view.observeStrings()
    view.document.title = "C"
    view.model.title = "D"
    check(view.log == ["C", "2", "D"], "strings are delivered at once: \(view.log)")
    await Task.detached { shared.pages = 8 }.value
    await eventually("strings deliver changes elsewhere") { await view.log.count == 5 }
    check(Set(view.log.dropFirst(3)) == ["8", "pages 8"], "strings deliver each change: \(view.log)")
  }
}
