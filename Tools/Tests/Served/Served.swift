// A program for the tests of kvo top, who, graph, trace and list: an editor's model that changes until standard input ends.
import Foundation
import KeyValueObserving

@KeyValueObservable
final class Author: @unchecked Sendable {
  var name = "Jane"
}

@KeyValueObservable
final class Document: @unchecked Sendable {
  var title = "Untitled"
  var pages = 0
  var author: Author?
}

final class Sidebar: @unchecked Sendable {
  private var shown = ""

  func show(_ document: Document) {
    document.onChange(of: \.title, for: self) { me, _, title in me.shown = title }
    document.onChange(of: \.author?.name, for: self) { me, _, name in me.shown = name ?? "" }
  }
}

final class Printer: @unchecked Sendable {
  private var total = 0

  func watch(_ document: Document) {
    document.observe(\.pages, options: [.old, .new], for: self) { me, _, change in
      usleep(2000)  // the slow one
      me.total += change.newValue ?? 0
    }
  }
}

@main
enum Served {
  /// How many closures observe the title besides: `--readers 3`.
  private static var readerCount: Int {
    let arguments = CommandLine.arguments
    return arguments.firstIndex(of: "--readers").flatMap { Int(arguments[$0 + 1]) } ?? 0
  }

  static func main() {
    let (document, author, sidebar, printer) = (Document(), Author(), Sidebar(), Printer())
    document.author = author
    sidebar.show(document)
    printer.watch(document)
    let readers = (0..<readerCount).map { _ in document.observe(\.title) { _, _ in } }
    print(getpid())
    fflush(nil)
    let worker = Thread {
      for number in 1... {
        document.title = "Title \(number)"
        if number % 10 == 0 { author.name = "Jane \(number)" }
        if number % 4 == 0 { document.pages = number }
        usleep(1000)
      }
    }
    worker.start()
    while readLine() != nil {}
    withExtendedLifetime((document, author, sidebar, printer, readers)) {}
    exit(0)
  }
}
