// K01 to K13: objects and observers that are deallocated while an observation is registered.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

private func diesWhileObserved() {
  let sidebar = Panel()
  do {
    let letter = Document("A letter")
    letter.addObserver(sidebar, forKeyPath: "pages", options: [.new])  // site K01: registered
    letter.addObserver(sidebar, forKeyPath: "author.name", options: [.new])  // site K01: registered too
    letter.pages = 2
  }
  withExtendedLifetime(sidebar) {}
}

@KeyValueObservable
private final class Meter: KeyValueObserver {
  var value = 0
  private var token: NSKeyValueObservation?

  init(safely: Bool) {
    if safely {
      token = observe(\.value) { meter, _ in check(meter.value == 1) }
    } else {
      addObserver(self, forKeyPath: "value")  // site K03: registered
    }
  }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

private func diesObservingItself() { Meter(safely: false).value = 1 }
private func diesObservingItselfSafely() { Meter(safely: true).value = 1 }

private func oneOfTwoWasRemoved() {
  let (sidebar, toolbar) = (Panel(), Panel())
  do {
    let letter = Document("A letter")
    letter.addObserver(sidebar, forKeyPath: "pages")  // site K05: the one left was registered
    letter.addObserver(toolbar, forKeyPath: "pages")
    letter.removeObserver(toolbar, forKeyPath: "pages")  // site K05: the other was removed
  }
  withExtendedLifetime((sidebar, toolbar)) {}
}

@KeyValueObservable
private final class Window: KeyValueObserver {
  var document = Document("A letter")
  init() { addObserver(self, forKeyPath: "document.author.name") }  // site K07: registered
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

private func rootOfAPathDies() {
  let anna = Author("Anna")
  do {
    let window = Window()
    window.document.author = anna
  }
  anna.name = "Bert"  // nothing of the path may remain
  check(anna.observationInfo == nil)
}

private func observerDied() {
  let letter = Document("A letter")
  do {
    let sidebar = Panel()
    letter.addObserver(sidebar, forKeyPath: "pages")  // site K09: registered  // site K96: registered
  }
  letter.pages = 2
  letter.pages = 3  // it has ended
  check(letter.observationInfo == nil)
}

private final class Successor: Panel {}

private func address(_ object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object).hashValue) }

/// The observer dies, and the allocator reuses its address, if it can, for one of a thousand others.
private func anotherAtItsAddress(_ make: () -> Panel) {
  let letter = Document("A letter")
  var wanted: UInt = 0
  do {
    let sidebar = Panel()
    wanted = address(sidebar)
    letter.addObserver(sidebar, forKeyPath: "pages")  // site K10: registered  // site K11: registered
  }
  var others: [Panel] = []
  while others.count < 1000, others.last.map(address) != wanted { others.append(make()) }
  letter.pages = 2
  check(others.allSatisfy { $0.calls == 0 })
}

private func successorAtItsAddress() { anotherAtItsAddress { Successor() } }
private func siblingAtItsAddress() { anotherAtItsAddress { Panel() } }

@KeyValueObservable
private final class Closing {
  var isOpen = true
  deinit { isOpen = false }
}

private func setWhileDestroyed() {
  var token: NSKeyValueObservation?
  do {
    let door = Closing()
    token = door.observe(\.isOpen) { _, _ in }
  }
  token?.invalidate()
}

var lifetimes: [Scenario] {
  [
    .init("K01", "1", contains: "pages|author.name", diesWhileObserved),
    .init("K03", "1", contains: "itself", diesObservingItself),
    .init("K04", "", diesObservingItselfSafely),
    .init("K05", "1", lacks: "2 observations", oneOfTwoWasRemoved),
    .init("K07", "1", contains: "document.author.name", rootOfAPathDies),
    .init("K09", "4", observerDied),
    .init("K10", "4", successorAtItsAddress),
    .init("K11", "4", siblingAtItsAddress),
    .init("K13", "", setWhileDestroyed),
  ]
}

/// K96: the same as K09, in a program built with AddressSanitizer.
var observerDiedUnderASan: Scenario {
  .init("K96", "4", observerDied)
}
