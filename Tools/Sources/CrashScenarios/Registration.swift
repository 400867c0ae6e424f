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

private func veryManyObservers() {
  let (letter, calls) = (Document("A letter"), Counter())
  let tokens = (0..<65_537).map { _ in letter.observe(\.pages) { _, _ in calls.add() } }
  letter.pages = 2
  check(calls.value == tokens.count)
  for token in tokens { token.invalidate() }
}

private func forkAndSet() {
  let (letter, calls) = (Document("A letter"), Counter())
  let token = letter.observe(\.pages) { _, _ in calls.add() }
  let child = fork()
  if child == 0 {
    letter.pages = 2
    token.invalidate()
    _exit(calls.value == 1 ? 0 : 1)
  }
  var status: Int32 = 1
  check(waitpid(child, &status, 0) == child && status == 0)
  check(calls.value == 0)
}

var registration: [Scenario] {
  [
    .init(
      "K43", "9 9", variation: "a single undefined key without .initial is accepted, for announcements by hand",
      contains: "title", flags: .golden, undefinedKey),
    .init("K44", "10*5", variation: "dots alone, other long paths", flags: .golden, malformedPaths),
    .init("K45", "11", variation: "a property that is @NotObserved", flags: .golden, neverNotifies),
    .init(
      "K45.2", "11 11 11", variation: "a constant; a key that the class does not have", computedOfNothing),
    .init(
      "K46",
      impossible:
        "accessors in Swift call the runtime themselves: no signature has to be intercepted; the macro refuses the rest"
    ),
    .init("K47", impossible: "the compiler lets no nil pass where something has to be"),
    .init("K48", impossible: "the compiler lets only objects of observable classes be observed"),
    .init("K49", "18", variation: "a set, a nested array", flags: .golden, throughACollection),
    .init("K50", "", variation: "three times", registeredTwice),
    .init(
      "K50.2", "19", variation: "other contexts", environment: "KVO_POLICY=KVO0019:log", flags: .golden,
      registeredTwice),
    .init("K51", impossible: "accessors in Swift call the runtime themselves: there are no trampolines"),
    .init("K52", "", variation: "of a key path", veryManyObservers),
    .init("K53", impossible: "the header is a private property of the object, and a class's metadata is left alone"),
    .init("K54", impossible: "the header is a private property of the object, and a class's metadata is left alone"),
    .init("K55", "", variation: "other threads are setting meanwhile", flags: .alone, forkAndSet),
    .init("K56", impossible: "code in Swift is not unloaded"),
  ]
}
