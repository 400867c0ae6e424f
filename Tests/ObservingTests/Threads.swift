// Threads, gates and synchronized objects for the concurrency tests.
import Foundation
import Synchronization

/// A thread that can be joined. It is a pthread, because ThreadSanitizer understands pthread_join.
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

/// Runs a body on several threads at the same time, with the index of each, and waits for them.
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

/// A gate that threads wait for.
final class Gate: Sendable {
  private let opened = Atomic<Bool>(false)
  var isOpen: Bool { opened.load(ordering: .sequentiallyConsistent) }
  func open() { opened.store(true, ordering: .sequentiallyConsistent) }
  func wait() { while !isOpen { usleep(100) } }
}

/// Sleeps long enough for another thread to do what it must not do.
func aMoment() { usleep(30_000) }

/// A thread-safe counter.
final class Count: Sendable {
  private let number = Atomic<Int>(0)
  var value: Int { number.load(ordering: .sequentiallyConsistent) }
  func add(_ by: Int = 1) { number.wrappingAdd(by, ordering: .sequentiallyConsistent) }
}

/// An object with a recursive lock, which closures can take again. Swift does not synchronize stored properties, so tests that set
/// one from several threads use the lock. Operations that need no lock, such as observing, use the object directly.
final class Guarded<Object>: @unchecked Sendable {
  let object: Object
  private let lock = NSRecursiveLock()
  init(_ object: Object) { self.object = object }
  func access<Result>(_ body: (Object) -> Result) -> Result { lock.withLock { body(object) } }
}

/// An object that several threads use, and one releases.
final class Kept<Object>: @unchecked Sendable {
  private let lock = NSLock()
  private var kept: Object?
  init(_ object: Object? = nil) { kept = object }
  var value: Object? {
    get { lock.withLock { kept } }
    set {
      let before = lock.withLock {
        defer { kept = newValue }
        return kept
      }
      withExtendedLifetime(before) {}  // released without the lock
    }
  }
}

/// Counts its instances, so that tests can detect when a closure that captures it is released.
final class Witness: Sendable {
  private let living: Count
  init(in living: Count) {
    self.living = living
    living.add()
  }
  deinit { living.add(-1) }
}
