// K14 to K25: misuse during deallocation, and observations that remain when the process ends.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

// ------------------------------------------------------------------------------------------- During deallocation

@KeyValueObservable
private final class Door {
  var isOpen = true
  deinit { isOpen = false }
}

private nonisolated(unsafe) var keptDoor: Door?

private func callbackKeepsTheDying() {
  var token: NSKeyValueObservation?
  do {
    let door = Door()
    token = door.observe(\.isOpen) { door, _ in keptDoor = door }
  }
  token?.invalidate()
}

private final class WeakDoor: @unchecked Sendable {
  weak var door: Door?
  var calls = 0
}

private func callbackRefersWeaklyToTheDying() {
  let reference = WeakDoor()
  var token: NSKeyValueObservation?
  do {
    let door = Door()
    token = door.observe(\.isOpen) { door, _ in
      reference.door = door
      reference.calls += 1
    }
  }
  check(reference.calls == 1 && reference.door == nil)
  token?.invalidate()
}

// ------------------------------------------------------------------------------------------ At the end of a process

private final class Holder: @unchecked Sendable {
  var token: NSKeyValueObservation?
}

private func keepsItselfAlive() {
  let (letter, holder) = (Document("A letter"), Holder())
  let shared = Unguarded(letter)
  holder.token = letter.observe(\.pages) { _, _ in  // site K16: registered
    withExtendedLifetime((holder, shared)) {}
  }
  letter.pages = 2
}

private func tokenIsDropped() {
  let letter = Document("A letter")
  _ = letter.observe(\.pages) { _, _ in check(false) }  // site K17: registered
  letter.pages = 2
}

@inline(never)
private func onTheStack() {
  let (letter, calls) = (Document("A letter"), Counter())
  let token = letter.observe(\.pages) { _, _ in calls.add() }
  letter.pages = 2
  check(calls.value == 1)
  withExtendedLifetime(token) {}
}

private nonisolated(unsafe) var leftover: (Document, Panel)?

private func exitsWhileObserved() {
  let (letter, sidebar) = (Document("A letter"), Panel())
  letter.addObserver(sidebar, forKeyPath: "pages")
  letter.pages = 2
  leftover = (letter, sidebar)
}

// ---------------------------------------------------------------------------------------------------- Destruction

@KeyValueObservable
private final class Confused {
  var value = 0
  let observer: Panel
  init(_ observer: Panel) { self.observer = observer }
  deinit { addObserver(observer, forKeyPath: "value") }  // site K22: registered while the object is destroyed
}

private func registeredWhileDestroyed() {
  let sidebar = Panel()
  do { Confused(sidebar).value = 1 }
  withExtendedLifetime(sidebar) {}
}

private func manyShortLives(_ count: Int) {
  let calls = Counter()
  for _ in 0..<count {
    let letter = Document("A letter")
    let token = letter.observe(\.pages) { _, _ in calls.add() }
    letter.pages = 1
    withExtendedLifetime(token) {}
  }
  check(calls.value == count)
}

private func aHundredThousandLives() {
  manyShortLives(10_000)
  let before = kvo_crash_memory_in_use()
  manyShortLives(90_000)
  check(kvo_crash_memory_in_use() < before + 65_536)
}

var endings: [Scenario] {
  [
    .init(
      "K14", "",
      contains: "deallocated with non-zero retain count", ending: KVO_CRASH_ENDS_ABORTED, flags: .alone,
      callbackKeepsTheDying),
    .init("K15", "", callbackRefersWeaklyToTheDying),
    .init("K16", "14", environment: "KVO_REPORT=leaks", keepsItselfAlive),
    .init("K17", "15", environment: "KVO_POLICY=KVO0015:log", tokenIsDropped),
    .init("K18", "", onTheStack),
    .init("K22", "1", registeredWhileDestroyed),
    .init("K23", "", flags: .alone, aHundredThousandLives),
    .init("K24", "", flags: .alone, exitsWhileObserved),
  ]
}
