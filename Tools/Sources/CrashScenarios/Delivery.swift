// K57 to K69: actions of callbacks.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

/// An observer whose hierarchy handles no change.
private final class Sidebar: KeyValueObject {}

private func handlesNothing() {
  let (letter, sidebar) = (Document("A letter"), Sidebar())
  letter.addObserver(sidebar, forKeyPath: "pages", options: [.new])  // site K57: registered
  letter.pages = 2
  letter.removeObserver(sidebar, forKeyPath: "pages")
}

private func setsItAgain() {
  let letter = Document("A letter")
  let token = letter.observe(\.pages) { letter, _ in  // site K58: registered
    letter.pages += 1
  }
  letter.pages = 1
  token.invalidate()
}

private func valuesNeverSettle() {
  let (letter, reply) = (Unguarded(Document("A letter")), Unguarded(Document("A reply")))
  let one = letter.value.observe(\.pages, options: .new) { letter, _ in  // site K60: there
    reply.value.pages = letter.pages % 5 + 1
  }
  let two = reply.value.observe(\.pages, options: .new) { reply, _ in  // site K60: the other
    letter.value.pages = reply.pages % 5 + 1
  }
  letter.value.pages = 7
  one.invalidate()
  two.invalidate()
}

private func readsAndWritesInPlace() {
  let letter = Document("A letter")
  let seen = Unguarded<[Int]>([])
  let token = letter.observe(\.pages, options: [.prior]) { letter, change in
    seen.value.append(letter.pages)
    if !change.isPrior, letter.pages == 1 { letter.pages = 10 }
  }
  letter.pages += 1
  check(letter.pages == 10 && seen.value == [0, 1, 1, 10])
  letter.words.append("three")
  letter.authors.append(Author("Anna"))
  token.invalidate()
}

@KeyValueObservable
private final class Ordered {
  @NotObserved var log: [String] = []
  var value = 0 {
    willSet { log.append("willSet") }
    didSet { log.append("didSet") }
  }
}

private func orderOfDelivery() {
  let ordered = Ordered()
  let token = ordered.observe(\.value, options: [.prior]) { ordered, change in
    ordered.log.append(change.isPrior ? "prior" : "observer")
  }
  ordered.value = 1
  check(ordered.log == ["prior", "willSet", "didSet", "observer"])
  token.invalidate()
}

private func wrongType() {
  let letter = Document("A letter")
  letter.setValue("two", forKey: "pages")
  check(letter.pages == 0)
}

private func slowCallback() {
  let letter = Document("A letter")
  let token = letter.observe(\.pages) { _, _ in usleep(300_000) }  // site K67: registered
  letter.pages = 2
  token.invalidate()
}

var delivery: [Scenario] {
  [
    .init("K57", "22", handlesNothing),
    .init("K58", "23", flags: .alone, setsItAgain),
    .init("K60", "24", flags: .alone, valuesNeverSettle),
    .init("K64", "", readsAndWritesInPlace),
    .init("K65", "", orderOfDelivery),
    .init("K66", "26", wrongType),
    .init("K67", "27", environment: "KVO_SLOW_MS=50", slowCallback),
  ]
}
