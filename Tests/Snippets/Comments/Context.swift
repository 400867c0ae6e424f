// What the examples in the doc comments of the library use: scripts/comments.py makes a subclass of Context of each.
import Dispatch
import Foundation
import KeyValueObserving
import KeyValueObservingTesting
import XCTest

@KeyValueObservable
final class Person {
  var name = "Jane"
  var title = ""
}

@KeyValueObservable
final class Item {
  var name = ""
}

@KeyValueObservable
class Document: @unchecked Sendable {
  var title = "Untitled"
  var text = ""
  var pages = 0
  var author: Person?
  var items: [Item] = []

  func readTitleFromFile() {}
}

@KeyValueObservable
final class Model: @unchecked Sendable {
  var celsius = 20.0
  var progress = 0
}

@KeyValueObservable
final class Download: @unchecked Sendable {
  var percent = 0
  func run() async { percent = 100 }
}

@KeyValueObservable
final class Shelf {
  var documents: [Document] = []
}

@KeyValueObservable
final class Slider {
  var value = 0
}

@KeyValueObservable
final class Field: KeyValueObject {
  var value = ""
  var caption = ""
  var text = ""
  var number = ""
  var selection = ""
}

@KeyValueObservable
final class Numbers {
  var x = 1
  var y = 2
  var z = 3
}

final class Label {
  var text = ""
}

final class Renderer {}

class Panel: KeyValueObserver, @unchecked Sendable {
  var caption = ""
  init(_ document: Document? = nil) {}
  func close() {}
  func update(_ document: Document) {}
  func pagesChanged() {}
  func titleChanged(_ change: NSKeyValueObservedChange<String>) {}
  func titleChanged(_ change: NSKeyValueObservedChange<Any>) {}
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
  ) {}
}

/// The object that observes in the examples.
class Context: KeyValueObject, @unchecked Sendable {
  let label = Label()
  var change: [NSKeyValueChangeKey: Any]? { nil }

  // For a property that is written by hand.
  var _title = ""
  let key = KeyValueObservationHeader.key("title")

  func save(_ text: String) {}
  func show(_ number: Int) {}
  func wait(for expectations: [XCTestExpectation], timeout: TimeInterval) {}
}

nonisolated(unsafe) let document = Document()
nonisolated(unsafe) let documents = [Document()]
nonisolated(unsafe) let (window, field, nameField, search, history) = (Field(), Field(), Field(), Field(), Field())
nonisolated(unsafe) let (slider, model, download, shelf, person) = (Slider(), Model(), Download(), Shelf(), Person())
nonisolated(unsafe) let (a, b, c) = (Numbers(), Numbers(), Numbers())
nonisolated(unsafe) let (first, second) = (Person(), Person())
nonisolated(unsafe) let (book, basket) = (Document(), Shelf())
nonisolated(unsafe) let (item, other) = (Item(), Item())
nonisolated(unsafe) let (panel, watcher) = (Panel(), Panel())
nonisolated(unsafe) let recorder = ChangeRecorder(document, \.pages)
nonisolated(unsafe) let shown = document.source(\.title)
nonisolated(unsafe) let token = document.observe(\.title) { _, _ in }
nonisolated(unsafe) var tokens: Set<NSKeyValueObservation> = []
let queue = DispatchQueue(label: "examples")
let lines = ["a line"]
var fault: KeyValueFault { fatalError("no example runs") }
var point: KeyValueRuntimeObject { fatalError("no example runs") }

func log(_ text: String) {}
func load(_ document: Document) {}
func upload(_ pages: Int) async {}
