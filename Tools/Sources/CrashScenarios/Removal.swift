// K26 to K42: removal of observers that are not registered, and removal at difficult times.
internal import CCrashScenarios
import KeyValueObserving

private func wasNeverRegistered() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "pages")  // site K26: registered
  letter.removeObserver(sidebar, forKeyPath: "page")  // site K26: removed
  letter.removeObserver(sidebar, forKeyPath: "pages")
}

private func removedTwice() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "pages")  // site K27: registered
  letter.removeObserver(sidebar, forKeyPath: "pages")  // site K27: removed
  letter.pages = 2
  letter.removeObserver(sidebar, forKeyPath: "pages")  // site K27: removed again
}

private func removedOnTwoThreads() {
  let shared = Unguarded((letter: Document("A letter"), sidebar: Panel()))
  for _ in 0..<50 {
    shared.value.letter.addObserver(shared.value.sidebar, forKeyPath: "pages")  // site K28: registered
    inThreads(2) { _ in
      shared.value.letter.removeObserver(shared.value.sidebar, forKeyPath: "pages")  // site K28: removed
    }
    check(shared.value.letter.observationInfo == nil)
  }
}

private class View: Panel {
  let document: Document
  init(_ document: Document) {
    self.document = document
    super.init()
    document.addObserver(self, forKeyPath: "pages")  // site K29: registered
  }
  deinit { document.removeObserver(self, forKeyPath: "pages") }  // site K29: removed again
}

private final class Editor: View {
  deinit { document.removeObserver(self, forKeyPath: "pages") }  // site K29: removed
}

private func removedByBothClasses() {
  let letter = Document("A letter")
  do { withExtendedLifetime(Editor(letter)) {} }
}

private nonisolated(unsafe) let ownContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
private nonisolated(unsafe) let baseContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

private func ambiguous() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "pages", context: baseContext)
  letter.addObserver(sidebar, forKeyPath: "pages", context: ownContext)  // site K31: the one taken
  letter.removeObserver(sidebar, forKeyPath: "pages")  // site K31: removed
  letter.removeObserver(sidebar, forKeyPath: "pages", context: baseContext)
}

// --------------------------------------------------------------------------------------------------- In callbacks

private func removesTheLastOne() {
  let letter = Document("A letter")
  let sidebar = Panel { panel, _ in letter.removeObserver(panel, forKeyPath: "pages") }
  for number in 1...100 {
    letter.addObserver(sidebar, forKeyPath: "pages", options: [.old, .new])
    letter.pages = number
    check(sidebar.calls == number && letter.observationInfo == nil)
  }
}

// -------------------------------------------------------------------------------------------------------- Waiting

@inline(never)
private func waitsForItself() {
  let (letter, holder, calls) = (Document("A letter"), Unguarded<NSKeyValueObservation?>(nil), Counter())
  holder.value = letter.observe(\.pages) { _, _ in  // site K39: registered
    calls.add()
    holder.value?.invalidateAndWait()
  }
  letter.pages = 2
  letter.pages = 3
  check(calls.value == 1)
  holder.value = nil
}

private func removedByATemporaryName() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: ["pa", "ges"].joined())
  letter.removeObserver(sidebar, forKeyPath: String("segap".reversed()))
  check(letter.observationInfo == nil)
}

var removal: [Scenario] {
  [
    .init("K26", "2", contains: "\"pages\"", wasNeverRegistered),
    .init("K27", "3", removedTwice),
    .init("K28", "3*50", removedOnTwoThreads),
    .init("K29", "3", removedByBothClasses),
    .init("K31", "16", ambiguous),
    .init("K35", "", removesTheLastOne),
    .init("K39", "17", contains: "waitsForItself", waitsForItself),
    .init("K41", "", removedByATemporaryName),
  ]
}
