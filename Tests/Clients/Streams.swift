// flags: | -O
// Streams in code of each isolation, of objects and values that are Sendable and of others.
import Foundation
import KeyValueObserving

@KeyValueObservable
final class Document {
  var title = ""
  var author: Author?
}

@KeyValueObservable
final class Author {
  var name = ""
}

@KeyValueObservable
final class Shared: @unchecked Sendable {
  var title = ""
  var author: Author?
  init() {}
}

@KeyValueObservable
@MainActor
final class Model {
  var title = ""
  var author: Author?
}

@MainActor
final class ViewModel {
  let (document, shared, model) = (Document(), Shared(), Model())
  var log: [String] = []

  func follow() async {
    for await title in document.values(of: \.title) {
      log.append(title)
      if title == "end" { break }
    }
    for await author in document.values(of: \.author) {
      log.append(author?.name ?? "-")
      break
    }
    for await change in document.changes(of: \.author, options: [.initial, .new]) {
      log.append(change.newValue??.name ?? "-")
      break
    }
    for await title in document.source("title", as: String.self).values() {
      log.append(title)
      break
    }
    for await author in model.values(of: \.author) {
      log.append(author?.name ?? "-")
      break
    }
    for await change in shared.changes(of: \.title, options: [.initial, .new], buffering: .newest(1)) {
      log.append(change.newValue!)
      break
    }
  }

  /// By hand, in a task that inherits the actor.
  func begin() -> Task<Void, Never> {
    var iterator = document.values(of: \.author).makeAsyncIterator()
    let titles = document.values(of: \.title, options: [])
    return Task {
      if let author = await iterator.next() { log.append(author?.name ?? "-") }
      for await title in titles {
        log.append(title)
        break
      }
    }
  }
}

actor Worker {
  let document = Document()
  var titles: [String] = []

  func follow(_ shared: Shared) async {
    for await title in shared.values(of: \.title) {
      titles.append(title)
      if title == "end" { break }
    }
    for await author in document.values(of: \.author) {
      titles.append(author?.name ?? "-")
      break
    }
  }
}

/// Nonisolated, with a sequence of a type that is not named.
func first<Titles: AsyncSequence<String, Never>>(_ titles: sending Titles) async -> String? {
  for await title in titles { return title }
  return nil
}

func titles(of document: Document) -> some AsyncSequence<String, Never> { document.values(of: \.title) }
func sendable(of document: Document) -> some AsyncSequence<String, Never> & Sendable { document.values(of: \.title) }

func plain() async -> [String] {
  let document = Document()
  document.author = Author()
  document.author!.name = "Ann"
  var log: [String] = []
  for await author in document.values(of: \.author) {
    log.append(author!.name)
    break
  }
  for await change in document.source("author.name").changes(options: [.initial, .new]) {
    log.append("\(change.newValue!)")
    break
  }
  log.append(await first(titles(of: document)) ?? "-")
  // The values of an object that is not Sendable, in another task.
  let sent = sendable(of: document)
  log.append(await Task.detached { await first(sent) ?? "-" }.value)
  return log
}

func check(_ condition: Bool, _ message: String, line: Int = #line) {
  guard !condition else { return }
  print("Streams.swift:\(line): \(message)")
  exit(1)
}

@main
enum Program {
  @MainActor static func main() async {
    let view = ViewModel()
    let task = view.begin()
    view.document.title = "A"
    await task.value
    check(view.log == ["-", "A"], "a loop on the main actor follows an object that is not Sendable")
    view.log = []
    async let setting: Void = { @MainActor in view.document.title = "end" }()
    await view.follow()
    await setting
    check(view.log.suffix(6) == ["end", "-", "-", "end", "-", ""], "\(view.log)")

    let (worker, shared) = (Worker(), Shared())
    async let following: Void = worker.follow(shared)
    await Task.detached {
      for number in 1...100 { shared.title = "\(number)" }
      shared.title = "end"
    }.value
    await following
    check(await worker.titles.suffix(2) == ["end", "-"], "an actor follows an object that others set")
    check(await plain() == ["Ann", "Ann", "", ""], "nonisolated code follows an object that is not Sendable")
  }
}
