// Objects, tokens and closures released while other threads use the observations, and processes that fork.
import Foundation
import KeyValueObserving
import Testing

@Suite("Deallocation on one thread while others set", .serialized)
struct DyingTests {
  @Test func `Tokens released on one thread while another sets free each closure once`() {
    let (document, living) = (Guarded(Document()), Count())
    onThreads(2) { thread in
      for index in 0..<500 {
        if thread == 0 {
          document.access { $0.title = "\(index)" }
        } else {
          let witness = Witness(in: living)
          let token = document.object.observe(\.title) { _, _ in withExtendedLifetime(witness) {} }
          token.invalidate()
        }
      }
    }
    #expect(living.value == 0)
  }

  @Test func `An object is deallocated on one thread while others invalidate its observations`() {
    let living = Count()
    for round in 0..<200 {
      let object = Kept<Document>(Document())
      let tokens = (0..<3).map { _ in
        let witness = Witness(in: living)
        return object.value!.observe(round % 2 == 0 ? \.summary : \.title) { _, _ in withExtendedLifetime(witness) {}
        }
      }
      onThreads(4) { thread in
        if thread == 3 {
          object.value = nil
        } else if thread % 2 == 0 {
          tokens[thread].invalidate()
        } else {
          tokens[thread].invalidateAndWait()
        }
      }
    }
    #expect(living.value == 0)
  }

  @Test func `An object in the middle of a path is deallocated on one thread while others set and observe`() {
    let (document, living, changes) = (Guarded(Document()), Count(), Count())
    let token = document.object.observe(\.reviewer?.name, options: [.old, .new]) { _, _ in changes.add() }
    onThreads(4) { thread in
      for index in 0..<200 {
        switch thread {
        case 0:
          let person = Person(name: "\(index)")
          document.access { $0.reviewer = person }
          withExtendedLifetime(person) {}  // its deallocation, outside the lock, is a change too
        case 1:
          document.access { $0.title = "\(index)" }
        default:
          let witness = Witness(in: living)
          document.access {
            $0.observe(\.reviewer?.name, options: [.initial]) { _, _ in withExtendedLifetime(witness) {} }
          }.invalidate()
        }
      }
    }
    #expect(living.value == 0)
    #expect(changes.value == 400)
    #expect(document.object.reviewer == nil)
    token.invalidate()
  }

  @Test func `A closure whose release uses the runtime does not deadlock`() {
    final class Busy: Sendable {
      let document: Guarded<Document>
      init(_ document: Guarded<Document>) { self.document = document }
      deinit {
        let token = document.object.observe(\.summary, options: [.new]) { _, _ in }
        document.access { $0.title = "released" }
        token.invalidateAndWait()
      }
    }
    let document = Guarded(Document())
    onThreads(4) { thread in
      for index in 0..<100 {
        let busy = Busy(document)
        let token = document.access { $0.observe(\.title) { _, _ in withExtendedLifetime(busy) {} } }
        if thread % 2 == 0 { document.access { $0.title = "\(index)" } }
        token.invalidate()
      }
    }
    #expect(document.object.observationInfo == nil)
  }

  @Test func `The child of a fork sets, is notified and invalidates, while the parent's threads set and observe`()
    async
  {
    await #expect(processExitsWith: .success) { Forking.forkWhileOthersSet() }
  }

  @Test func `The child of a fork registers for a receiver and binds, while the parent's threads do`() async {
    await #expect(processExitsWith: .success) { Forking.forkWhileOthersRegister() }
  }
}

private enum Forking {
  /// The lock and storage that the child uses are not used by another thread at the fork, and are free.
  static func forkWhileOthersSet() {
    let (document, busy, done, count) = (Document(), Guarded(Document()), Gate(), Count())
    let token = document.observe(\.title, options: [.old, .new]) { _, _ in count.add() }
    let others = (0..<3).map { _ in
      RunningThread {
        while !done.isOpen {
          let token = busy.access { $0.observe(\.summary, options: [.old]) { _, _ in } }
          busy.access { $0.title = "set" }
          token.invalidateAndWait()
        }
      }
    }
    inChildren(20) {
      let before = count.value
      document.title = "child"
      token.invalidateAndWait()
      document.title = "not observed"
      return count.value == before + 1 && document.observationInfo == nil
    }
    done.open()
    for other in others { other.join() }
  }

  static func forkWhileOthersRegister() {
    let (document, copy, receiver, done) = (Document(), Document(), NSObject(), Gate())
    @Sendable func register(_ document: Document, _ copy: Document, _ receiver: NSObject) {
      document.onChange(of: \.title, for: receiver) { _, _, _ in }
      document.source(\.title).bind(to: copy, \.title)
    }
    register(Document(), Document(), receiver)
    let others = (0..<3).map { _ in
      RunningThread { while !done.isOpen { register(Document(), Document(), NSObject()) } }
    }
    inChildren(100) {
      register(document, copy, receiver)
      document.title = "child"
      return copy.title == "child"
    }
    done.open()
    for other in others { other.join() }
  }

  /// Calls a function in so many children, one after the other, which has to return `true`.
  private static func inChildren(_ count: Int, _ body: () -> Bool) {
    for _ in 0..<count {
      let child = fork()
      precondition(child >= 0)
      if child == 0 {
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)  // the threads of Dispatch block the alarm's signal
        alarm(30)
        _exit(body() ? 0 : 1)
      }
      var status: Int32 = 0
      precondition(waitpid(child, &status, 0) == child && status == 0, "the child failed: \(status)")
    }
  }
}
