// K43 to K56: registrations that are refused, and unusual ones that must work.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

private func undefinedKey() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.author = Author("Anna")
  letter.addObserver(sidebar, forKeyPath: "titel", options: [.initial, .new])  // site K43: registered
  letter.addObserver(sidebar, forKeyPath: "author.nmae")
  check(letter.observationInfo == nil)
}

private func malformedPaths() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "author..name")  // site K44: registered
  for path in ["", "author.", ".name", String(repeating: "a", count: 1 << 20) + "..b"] {
    letter.addObserver(sidebar, forKeyPath: path)
  }
  check(letter.observationInfo == nil)
}

/// `@KeyValueObservable` is missing, for the property that it adds.
private final class Draft: Document {
  var version = 1
}

private func neverNotifies() {
  let draft = Draft("A draft")
  let token = draft.observe(\.version) { _, _ in }  // site K45: registered
  draft.version = 2
  token.invalidate()
}

@KeyValueObservable
private final class Stamp {
  let madeAt = 1
  var age: Int { 100 - madeAt }
}

private func computedOfNothing() {
  let stamp = Stamp()
  let tokens = [
    stamp.observe(\.age) { _, _ in },  // site K45.2: registered
    stamp.observe(\.madeAt) { _, _ in },
  ]
  let sidebar = Panel()
  stamp.addObserver(sidebar, forKeyPath: "maedAt")
  stamp.removeObserver(sidebar, forKeyPath: "maedAt")
  for token in tokens { token.invalidate() }
}

private func throughACollection() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.authors = [Author("Anna")]
  letter.addObserver(sidebar, forKeyPath: "authors.name")  // site K49: registered
}

private func registeredTwice() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "pages")  // site K50.2: registered
  letter.addObserver(sidebar, forKeyPath: "pages")  // site K50.2: registered again
  letter.pages = 2
  check(sidebar.calls == 2)
  letter.removeObserver(sidebar, forKeyPath: "pages")
  letter.removeObserver(sidebar, forKeyPath: "pages")
}

var registration: [Scenario] {
  [
    .init("K43", "9 9", contains: "title", undefinedKey),
    .init("K44", "10*5", malformedPaths),
    .init("K45", "11", neverNotifies),
    .init("K45.2", "11 11 11", computedOfNothing),
    .init("K49", "18", throughACollection),
    .init("K50", "", registeredTwice),
    .init("K50.2", "19", environment: "KVO_POLICY=KVO0019:log", registeredTwice),
  ]
}
