// The end of observations: invalidate and invalidateAndWait, in different places and while the closure runs.
import KeyValueObserving
import Testing

@Suite("Ending observations from several threads", .serialized)
struct WaitingTests {
  /// A document whose title is being delivered to a closure that blocks until the gate opens.
  private struct Held {
    let document = Guarded(Document())
    let inside = Gate()
    let go = Gate()
    let left = Gate()
    let token: NSKeyValueObservation
    let setter: RunningThread

    init() {
      let (document, inside, go, left) = (document, inside, go, left)
      token = document.object.observe(\.title) { _, _ in
        inside.open()
        go.wait()
        left.open()
      }
      setter = RunningThread { document.object.title = "set" }
      inside.wait()
    }

    /// Waits for the closure on another thread, and expects that the wait does not end before the closure.
    func expectToWait() {
      let (token, left, back) = (token, left, Gate())
      let waiter = RunningThread {
        token.invalidateAndWait()
        #expect(left.isOpen)
        back.open()
      }
      aMoment()
      #expect(!back.isOpen)
      go.open()
      waiter.join()
      setter.join()
    }
  }

  @Test func `invalidateAndWait waits for the closure on another thread`() { Held().expectToWait() }

  @Test func `invalidateAndWait also waits if the observation had ended before`() {
    let held = Held()
    held.token.invalidate()
    #expect(!held.left.isOpen)
    held.expectToWait()
  }

  @Test func `invalidateAndWait does not wait for other closures of the same object`() {
    let held = Held()
    held.document.object.observe(\.title) { _, _ in }.invalidateAndWait()
    held.document.object.observe(\.author?.name) { _, _ in }.invalidateAndWait()
    #expect(!held.left.isOpen)
    held.go.open()
    held.setter.join()
  }

  @Test func `After invalidateAndWait the closure does not run again`() {
    let document = Guarded(Document())
    let done = Gate()
    let setter = RunningThread {
      while !done.isOpen { document.access { $0.title = "set" } }
    }
    for _ in 0..<300 {
      let over = Gate()
      let token = document.object.observe(\.title, options: [.new]) { _, _ in #expect(!over.isOpen) }
      token.invalidateAndWait()
      over.open()
    }
    done.open()
    setter.join()
  }

  @Test func `A token is invalidated twice, by several threads at once, and by its closure`() {
    let (document, living) = (Guarded(Document()), Count())
    for _ in 0..<100 {
      let (kept, witness) = (Kept<NSKeyValueObservation>(), Witness(in: living))
      let token = document.object.observe(\.title) { _, _ in
        withExtendedLifetime(witness) { kept.value?.invalidate() }
      }
      kept.value = token
      onThreads(3) { thread in
        if thread == 0 { document.access { $0.title = "set" } }
        token.invalidate()
        token.invalidate()
      }
      kept.value = nil
    }
    #expect(living.value == 0)
    #expect(document.object.observationInfo == nil)
  }

  @Test func `KVO0017, a closure that waits for itself is reported and continues`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Endless.waitForItself()
    }
    #expect(
      result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).hasPrefix("KVO0017 error") } == true)
  }

  @Test func `Two closures that wait for each other's observation are KVO0017, and both return`() async {
    await #expect(processExitsWith: .success) {
      let faults = Count()
      KeyValueFault.setHandler {
        faults.add($0.code == 17 ? 1 : 100)
        return .ignore
      }
      Endless.waitForEachOther()
      precondition((1...2).contains(faults.value))
    }
  }
}

private enum Endless {
  static func waitForItself() {
    let (document, kept, count) = (Document(), Kept<NSKeyValueObservation>(), Count())
    kept.value = document.observe(\.title) { _, _ in
      kept.value?.invalidateAndWait()
      count.add()
    }
    document.title = "once"
    document.title = "twice"
    precondition(count.value == 1)
  }

  static func waitForEachOther() {
    let objects = [Guarded(Document()), Guarded(Document())]
    let (kept, inside) = ([Kept<NSKeyValueObservation>(), Kept()], [Gate(), Gate()])
    for number in 0..<2 {
      kept[number].value = objects[number].object.observe(\.title) { _, _ in
        inside[number].open()
        inside[1 - number].wait()
        kept[1 - number].value?.invalidateAndWait()
      }
    }
    onThreads(2) { objects[$0].object.title = "set" }
  }
}
