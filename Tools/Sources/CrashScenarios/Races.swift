// K79 to K86: threads.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

private let threads = 4
private let sets = 300

/// Swift does not synchronize the storage; the program's lock does.
private func eachSetIsTold() {
  let (letter, calls) = (Locked(Document("A letter")), Counter())
  let token = letter.object.observe(\.pages, options: [.old, .new]) { _, _ in calls.add() }
  inThreads(threads) { index in
    for number in 0..<sets { letter.access { $0.pages = index * sets + number } }
  }
  check(calls.value == threads * sets)
  token.invalidate()
}

private func registerWhileOthersSet() {
  let letter = Locked(Document("A letter"))
  inThreads(threads) { index in
    for number in 0..<sets {
      if index % 2 == 0 {
        letter.access { $0.pages = number }
      } else {
        letter.object.observe(\.pages) { _, _ in }.invalidateAndWait()
      }
    }
  }
  check(letter.object.observationInfo == nil)
}

private func replaceOnThePath() {
  let (letter, calls) = (Locked(Document("A letter")), Counter())
  let token = letter.object.observe(\.author?.name) { _, _ in calls.add() }
  let authors = Unguarded((0..<threads).map { _ in Author("An author") })
  inThreads(threads) { index in
    for number in 0..<sets { letter.access { $0.author = authors.value[(index + number) % threads] } }
  }
  let before = calls.value
  letter.object.author?.name = "The last one"
  check(calls.value == before + 1)  // it follows the present author
  token.invalidate()
}

private func callbacksSetEachOther() {
  let both = [Locked(Document("A letter")), Locked(Document("A reply"))]
  let counts = [Counter(), Counter()]
  // Both locks are always taken in the same order, so that any deadlock is the runtime's.
  @Sendable func set(_ index: Int, _ pages: Int) {
    both[0].access { _ in both[1].access { _ in both[index].object.pages = pages } }
  }
  let tokens = (0..<2).map { index in
    both[index].object.observe(\.pages) { letter, _ in
      counts[index].add()
      if letter.pages % 2 == 0 { set(1 - index, 1) }  // an odd number ends it
    }
  }
  inThreads(2) { index in
    for number in 0..<sets { set(index, 2 * number) }
  }
  check(counts.allSatisfy { $0.value == 2 * sets })
  for token in tokens { token.invalidate() }
}

private func waitWithALock() {
  let (letter, lock) = (Unguarded(Document("A letter")), NSLock())
  let (locked, inside) = (Counter(), Counter())
  let token = letter.value.observe(\.pages) { _, _ in  // site K83: registered
    inside.add()
    // Gives up after a while, so that the scenario ends.
    if lock.lock(before: Date(timeIntervalSinceNow: 0.3)) { lock.unlock() }
  }
  inThreads(2) { index in
    if index == 0 {
      waitUntil { locked.value == 1 }
      letter.value.pages = 2
    } else {
      lock.withLock {
        locked.add()
        waitUntil { inside.value == 1 }
        token.invalidateAndWait()  // the callback needs the lock
      }
    }
  }
  check(inside.value == 1)
}

@KeyValueObservable
private class Fresh {
  var value = 0
}

@KeyValueObservable
private final class Fresher: Fresh {
  var other = 0
}

private func firstObservationsOfAClass() {
  inThreads(threads) { _ in
    let (fresh, calls) = (Fresher(), Counter())
    let tokens = [fresh.observe(\.value) { _, _ in calls.add() }, fresh.observe(\.other) { _, _ in calls.add() }]
    fresh.value = 1
    fresh.other = 1
    check(calls.value == 2)
    for token in tokens { token.invalidate() }
  }
}

private func lastRemovalAndASet() {
  let letter = Unguarded(Document("A letter"))
  for _ in 0..<200 {
    let token = letter.value.observe(\.pages, options: [.old, .new]) { _, _ in }
    inThreads(2) { index in
      if index == 0 {
        for number in 0..<20 { letter.value.pages = number }
      } else {
        token.invalidateAndWait()
      }
    }
    check(letter.value.observationInfo == nil && letter.value.pages == 19)
  }
}

private final class Weakly: @unchecked Sendable {
  weak var document: Document?
}

private func diesWhileAnotherRegisters() {
  for _ in 0..<200 {
    let (kept, reference) = (Unguarded<Document?>(Document("A letter")), Weakly())
    reference.document = kept.value
    inThreads(2) { index in
      if index == 0 {
        kept.value = nil
      } else if let letter = reference.document {  // before or after the deallocation began
        letter.observe(\.pages) { _, _ in }.invalidate()
      }
    }
    check(reference.document == nil)
  }
}

var races: [Scenario] {
  [
    .init("K79", "", eachSetIsTold),
    .init("K80", "", registerWhileOthersSet),
    .init("K81", "", replaceOnThePath),
    .init("K82", "", callbacksSetEachOther),
    .init("K83", "27", environment: "KVO_SLOW_MS=50", waitWithALock),
    .init("K84", "", firstObservationsOfAClass),
    .init("K85", "", lastRemovalAndASet),
    .init("K86", "", diesWhileAnotherRegisters),
  ]
}
