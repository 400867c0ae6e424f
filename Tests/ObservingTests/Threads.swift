// Threads, gates and guarded objects for the tests of what several threads do at once.
import Foundation
import Synchronization

/// A thread that can be waited for. It is a pthread, for ThreadSanitizer knows what joining one means.
struct RunningThread {
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Body(body)).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, argument)
    precondition(status == 0)
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }

  private final class Body {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

/// Runs a body on several threads at once, with the number of each, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let start = Gate()
  let threads = (0..<count).map { number in
    RunningThread {
      start.wait()
      body(number)
    }
  }
  start.open()
  for thread in threads { thread.join() }
}

/// What threads wait for.
final class Gate: Sendable {
  private let opened = Atomic<Bool>(false)
  var isOpen: Bool { opened.load(ordering: .sequentiallyConsistent) }
  func open() { opened.store(true, ordering: .sequentiallyConsistent) }
  func wait() { while !isOpen { usleep(100) } }
}

/// Long enough for another thread to do what it must not do.
func aMoment() { usleep(30_000) }

/// A number that threads count up.
final class Count: Sendable {
  private let number = Atomic<Int>(0)
  var value: Int { number.load(ordering: .sequentiallyConsistent) }
  func add(_ by: Int = 1) { number.wrappingAdd(by, ordering: .sequentiallyConsistent) }
}

/// The language guards no storage: a test that sets one property from several threads does it under a lock, which closures may
/// take again. What needs no guard, such as observing, uses the object directly.
final class Guarded<Object>: @unchecked Sendable {
  let object: Object
  private let lock = NSRecursiveLock()
  init(_ object: Object) { self.object = object }
  func access<Result>(_ body: (Object) -> Result) -> Result { lock.withLock { body(object) } }
}

/// Captured by a closure, it counts how many of its kind live.
final class Witness: Sendable {
  private let living: Count
  init(in living: Count) {
    self.living = living
    living.add()
  }
  deinit { living.add(-1) }
}
