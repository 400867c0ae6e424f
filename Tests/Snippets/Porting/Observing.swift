// The code of Documentation/Porting.md: observing.
import Foundation
import KeyValueObserving
import Testing

// snippet: model

// snippet: observer

// snippet: observer without base class

// snippet: change dictionary

nonisolated(unsafe) private var plainContext = 0

/// Uses the address of a variable as the context, as the original does.
private final class AddressContext: KeyValueObserver {
  var isMine = false
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) { isMine = context == &plainContext }
}

/// Without the macro: the property that it adds does not notify.
private final class Draft: Document {
  var version = 0
}

/// Describes the changes that it receives.
private final class Describing: KeyValueObserver {
  var lines: [String] = []
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) { lines.append(describe(change ?? [:])) }
}

// snippet: token

// snippet: receiver

// snippet: main actor

// snippet: main actor observer

// snippet: never removed

// snippet: string key

@Suite("The porting guide: observing")
struct GuideObservingTests {
  let document = Document()

  @Test func `The controller is notified by its document until it is deallocated`() {
    do {
      let controller = TitleController(document: document)
      document.title = "A"
      #expect(controller.shown == "A")
    }
    #expect(document.observationInfo == nil)
  }

  @Test func `An observer can be of any class`() {
    let counter = Counter()
    // snippet: add and remove
    #expect(counter.count == 2)
  }

  @Test func `A token replaces a missing removal, and may outlive its observer and its object`() {
    do {
      let badge = Badge()
      let document = Document()
      badge.follow(document)
      document.title = "A"
      #expect(badge.text == "A")
    }
    do {
      let badge = Badge()
      badge.follow(document)
    }
    document.title = "B"
    #expect(document.observationInfo == nil)
  }

  @Test func `An observation of a string key path ends with its object`() {
    nonisolated(unsafe) var delivered: [String] = []
    weak var died: Document?
    var token: NSKeyValueObservation?
    do {
      let document = Document()
      died = document
      document.author = Author()
      token = document.observe("author.name") { delivered.append($0 as? String ?? "-") }
      document.author?.name = "Jane"
    }
    #expect(delivered == ["Jane"] && died == nil)
    token?.invalidate()
  }

  @Test func `The change dictionary contains Swift values`() {
    let describing = Describing()
    document.addObserver(describing, forKeyPath: "title", options: [.old, .new, .prior])
    document.title = "A"
    document.removeObserver(describing, forKeyPath: "title")
    document.addObserver(describing, forKeyPath: "author", options: [.new])
    document.author = nil
    document.removeObserver(describing, forKeyPath: "author")
    #expect(describing.lines == ["will change", " -> A", "is nil"])
  }

  @Test func `The address of a global variable works as a context`() {
    let observer = AddressContext()
    document.addObserver(observer, forKeyPath: "title", context: &plainContext)
    document.title = "A"
    document.removeObserver(observer, forKeyPath: "title", context: &plainContext)
    #expect(observer.isMine)
  }

  @Test func `Numbers in the change dictionary have the property's type, and convert to NSNumber`() {
    let values: [Any] = [1 as UInt, 1.5, true]
    #expect(values.allSatisfy { $0 is NSNumber })
    #expect(values[0] as? Int == nil && values[1] as? Int == nil && values[1] as? Double == 1.5)
  }

  @Test func `A property that a subclass adds without the macro is reported as never notifying`() {
    var codes: [Int] = []
    KeyValueFault.withHandler {
      codes.append($0.code)
      return .ignore
    } in: {
      Draft().observe(\.version) { _, _ in }.invalidate()
    }
    #expect(codes == [11])
  }

  @Test func `A label with a token observes only the last document it shows`() {
    let label = TitleLabel()
    let other = Document()
    label.show(document)
    document.title = "A"
    #expect(label.text == "A")
    label.show(other)
    document.title = "B"
    #expect(label.text == "" && document.observationInfo == nil)
  }

  @Test func `A weak property whose object is deallocated notifies with nil`() {
    nonisolated(unsafe) var names: [String] = []
    // snippet: weak
    #expect(names == ["Eve", "nobody"])
    token.invalidate()
  }

  @Test @MainActor func `A main-actor model and view work`() {
    let settings = Settings()
    let slider = VolumeSlider(settings)
    settings.volume = 7
    #expect(slider.position == 7)
    let window = VolumeWindow()
    settings.addObserver(window, forKeyPath: "volume", options: [.new])
    settings.volume = 8
    #expect(window.title == "Volume 8")
    settings.removeObserver(window, forKeyPath: "volume")
    nonisolated(unsafe) var muted: [Bool] = []
    let token = settings.observe(\.isMuted, options: [.new]) { _, change in muted.append(change.newValue!) }
    settings.volume = 0
    #expect(muted == [true])
    token.invalidate()
  }

  @Test func `A stream of values replaces a publisher`() async {
    nonisolated(unsafe) let document = document
    // snippet: publisher used
    #expect(seen == ["", "A", "B"])
  }
}
