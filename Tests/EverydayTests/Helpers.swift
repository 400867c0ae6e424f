// What these tests record with, and threads to run code on.
#if Macros
  import Dispatch
  import Foundation
  import KeyValueObserving

  /// A log that several threads may write.
  final class Log<Entry>: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Entry] = []

    var all: [Entry] { lock.withLock { entries } }

    @Sendable func add(_ entry: Entry) { lock.withLock { entries.append(entry) } }
  }

  extension Log<String> {
    /// The rest of the entries that begin with a word.
    func all(after word: String) -> [String] {
      all.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }
  }

  /// A log on an actor.
  actor Seen {
    private(set) var log: [String] = []

    func add(_ text: String) { log.append(text) }

    /// Returns the log when it has so many entries.
    func all(of count: Int) async -> [String] {
      while log.count < count { await Task.yield() }
      return log
    }

    @discardableResult
    func run<Result: Sendable>(_ body: @Sendable (isolated Seen) -> Result) -> Result { body(self) }
  }

  /// Calls a function and returns the codes of the faults that it raises on this thread.
  func faults(in body: () -> Void) -> [Int] { raised(in: body).map(\.code) }

  /// Calls a function and returns the faults that it raises on this thread.
  func raised(in body: () -> Void) -> [KeyValueFault] {
    let raised = Log<KeyValueFault>()
    KeyValueFault.withHandler {
      raised.add($0)
      return .ignore
    } in: {
      body()
    }
    return raised.all
  }

  /// The observations of an object that the graph has.
  func graphed(_ object: AnyObject) -> [ObservationGraph.Observation] {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    let graph = ObservationGraph.current()
    return graph.observations.filter { graph.objects[$0.object].address.rawValue == address }
  }

  /// Runs a function on a thread of its own, without a job, and waits for it.
  func elsewhere(_ body: @escaping @Sendable () -> Void) { onThread(body).wait() }

  /// Runs a function on a thread of its own, and returns what is signalled at its end.
  func onThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let ended = DispatchSemaphore(value: 0)
    Thread {
      body()
      ended.signal()
    }.start()
    return ended
  }

  /// Runs a function on several threads, and waits for them.
  func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let group = DispatchGroup()
      for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
          body(index)
          group.leave()
        }
      }
      group.notify(queue: .global()) { done.resume() }
    }
  }
#endif
