// K70 to K78: manually announced changes. As in Apple's API, the announcing methods have no parameter for the source location, so that
// reports name the calling function.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

/// Registers an observer, runs a body, and removes the observer.
private func observing(_ key: String, of letter: Document, _ body: (Panel) -> Void) {
  let sidebar = Panel()
  letter.addObserver(sidebar, forKeyPath: key, options: [.old, .new])
  body(sidebar)
  letter.removeObserver(sidebar, forKeyPath: key)
}

@inline(never)
private func didWithoutWill() {
  let letter = Document("A letter")
  observing("wordCount", of: letter) { _ in
    letter.wordCount = 500
    letter.didChangeValue(forKey: "wordCount")
  }
}

@inline(never)
private func willWithoutDid() {
  let sidebar = Panel()
  do {
    let letter = Document("A letter")
    letter.addObserver(sidebar, forKeyPath: "wordCount")
    letter.willChangeValue(forKey: "wordCount")
    letter.wordCount = 500
    letter.removeObserver(sidebar, forKeyPath: "wordCount")
  }
  withExtendedLifetime(sidebar) {}
}

@inline(never)
private func threadEndsBeforeDid() {
  let letter = Unguarded(Document("A letter"))
  observing("wordCount", of: letter.value) { _ in
    inThreads(1) { _ in
      letter.value.willChangeValue(forKey: "wordCount")
      letter.value.wordCount = 500
    }
  }
}

@inline(never)
private func willAndDidOnTwoThreads() {
  let (letter, announced, done) = (Unguarded(Document("A letter")), Counter(), Counter())
  observing("wordCount", of: letter.value) { _ in
    inThreads(2) { index in
      if index == 0 {
        letter.value.willChangeValue(forKey: "wordCount")
        announced.add()
        waitUntil { done.value == 1 }  // the thread must not end
        letter.value.didChangeValue(forKey: "wordCount")
      } else {
        waitUntil { announced.value == 1 }
        letter.value.wordCount = 500
        letter.value.didChangeValue(forKey: "wordCount")
        done.add()
      }
    }
  }
}

@inline(never)
private func announcedTwice() {
  let letter = Document("A letter")
  observing("pages", of: letter) { sidebar in
    letter.willChangeValue(forKey: "pages")
    letter.pages = 2  // also announces it
    letter.didChangeValue(forKey: "pages")
    check(sidebar.calls == 2)
  }
}

@KeyValueObservable
private final class Folder {
  var document: Document?
  init(_ document: Document) { self.document = document }
  /// Stores without calling the property's setter.
  func replace(_ document: Document) { _document = document }
}

private func replacedInSilence() {
  let (first, sidebar) = (Document("A letter"), Panel())
  let folder = Folder(first)
  folder.addObserver(sidebar, forKeyPath: "document.title", options: [.old, .new])  // site K76: registered
  folder.replace(Document("A reply"))  // without the setter
  let last = Document("A note")
  folder.document = last  // the runtime detects it here
  last.title = "A longer note"
  check(sidebar.calls == 2)
  folder.removeObserver(sidebar, forKeyPath: "document.title")
  withExtendedLifetime(first) {}  // its deallocation would be a change
}

@inline(never)
private func differentPositions() {
  let letter = Document("A letter")
  observing("words", of: letter) { _ in
    letter.willChange(.removal, valuesAt: [0], forKey: "words")
    letter.words.remove(at: 1)
    letter.didChange(.removal, valuesAt: [1], forKey: "words")
  }
}

@inline(never)
private func positionsOutside() {
  let letter = Document("A letter")
  observing("words", of: letter) { _ in
    letter.willChange(.removal, valuesAt: [99], forKey: "words")
    letter.words.removeLast()
    letter.didChange(.removal, valuesAt: [99], forKey: "words")
  }
}

var manual: [Scenario] {
  [
    .init("K70", "28", contains: "didWithoutWill", didWithoutWill),
    .init("K71", "29", contains: "willWithoutDid", willWithoutDid),
    .init("K71.2", "29", contains: "threadEndsBeforeDid", threadEndsBeforeDid),
    .init("K72", "30", contains: "willAndDidOnTwoThreads", willAndDidOnTwoThreads),
    .init("K74", "31", contains: "announcedTwice", announcedTwice),
    .init("K76", "32", replacedInSilence),
    .init("K77", "33", contains: "differentPositions", differentPositions),
    .init("K78", "33", contains: "positionsOutside", positionsOutside),
  ]
}
