// K79 to K86: threads.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

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
    .init("K83", "27", environment: "KVO_SLOW_MS=50", waitWithALock),
    .init("K86", "", diesWhileAnotherRegisters),
  ]
}
