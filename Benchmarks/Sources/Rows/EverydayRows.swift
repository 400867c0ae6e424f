// Rows: receivers, deliveries on a queue, streams and coalesced changes.

import Dispatch
import Foundation
import KeyValueObserving

extension Row {
  static var everyday: [Row] {
    [
      Row(
        "observed set, Int, for a receiver, options new", observedSetForReceiver,
        .qt("property-set-1", "QProperty, onValueChanged", bar: 0.8)),
      Row(
        "observed set, Int, for a receiver on the main actor, options new", observedSetOnMainActor,
        .qt("property-set-1", "QProperty, onValueChanged", bar: 1.2)),
      Row(
        "observed set, Int, onChange with a token",
        { onChangeSet { object, _ in object.onChange(of: \.number) { _, _ in } } }),
      Row(
        "observed set, Int, onChange for a receiver",
        { onChangeSet { $0.onChange(of: \.number, for: $1) { me, _, new in me.tally.add(new) } } }),
      Row(
        "one of 100 sets in withCoalescedChanges, 1 closure", coalescedSet,
        .qt("property-set-1", "QProperty, onValueChanged", bar: 0.5)),
    ]
  }

  /// What a queue or a task does on another thread cannot be counted.
  static var deliveries: [Row] {
    [
      Row(
        "delivery to a queue, each change", { deliveredSet(merging: false) },
        .here("DispatchQueue.async of the same closure", bar: 1.3, asynchronousCalls)),
      Row(
        "delivery to a queue, coalesced", { deliveredSet(merging: true) },
        .here("DispatchQueue.async of the same closure", bar: 0.2, asynchronousCalls)),
      Row("a value through values(of:), same task", streamedValues, .here("AsyncStream", bar: 1.3, bareStream)),
      Row("a value through values(of:), two tasks", streamedToLoop, .here("AsyncStream", bar: 1.3, bareStreamToLoop)),
    ]
  }
}

/// A receiver that cannot be observed itself.
private final class Receiver {
  let tally = Tally()
}

private func observedSetForReceiver() -> Workload {
  let (object, receiver) = (Observable(), Receiver())
  let token = object.observe(\.number, options: [.new], for: receiver) { me, _, change in
    me.tally.add(change.newValue!)
  }
  return .setting(object, keeping: (receiver, token))
}

private func onChangeSet(_ observe: (Observable, Receiver) -> NSKeyValueObservation) -> Workload {
  let (object, receiver) = (Observable(), Receiver())
  return .setting(object, keeping: (receiver, observe(object, receiver)))
}

@MainActor
private final class MainReceiver {
  let tally = Tally()

  func observe(_ object: Observable) {
    object.observe(\.number, options: [.new], for: self) { me, _, change in me.tally.add(change.newValue!) }
  }
}

/// Runs code on the main actor, and waits for it.
private func onMainActor(_ body: @escaping @MainActor () -> Void) {
  if Thread.isMainThread { return MainActor.assumeIsolated(body) }
  let done = DispatchSemaphore(value: 0)
  Task { @MainActor in
    body()
    done.signal()
  }
  done.wait()
}

private func observedSetOnMainActor() -> Workload {
  nonisolated(unsafe) let object = Observable()
  nonisolated(unsafe) var receiver: MainReceiver?
  onMainActor {
    receiver = MainReceiver()
    receiver!.observe(object)
  }
  return Workload { count in
    onMainActor { times(count) { set(object, $0) } }
    withExtendedLifetime(receiver) {}
  }
}

/// A class that two threads may use, because each waits for the other.
@KeyValueObservable
final class Delivered: @unchecked Sendable {
  var number = 0

  init() {}
}

@inline(never) func set(_ object: Delivered, _ value: Int) { object.number = value }

private func deliveredSet(merging merges: Bool) -> Workload {
  let (object, last, queue) = (Delivered(), Tally(), DispatchQueue(label: "delivery"))
  let source = object.source(\.number).delivered(on: queue)
  let token = (merges ? source.coalesced() : source).observe(options: [.new]) { change in
    last.set(change.newValue!)
  }
  return Workload(exactly: 10_000) { count in
    times(count) { set(object, $0) }
    // Until the last change has arrived.
    while queue.sync(execute: { last.value != count - 1 }) {}
    withExtendedLifetime(token) {}
  }
}

private func asynchronousCalls() -> Workload {
  let (tally, queue) = (Tally(), DispatchQueue(label: "delivery"))
  return Workload(exactly: 10_000) { count in
    times(count) { number in queue.async { tally.add(number) } }
    queue.sync {}
  }
}

/// Runs code in a task, and waits for it.
private func inTask(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}

private func streamedValues() -> Workload {
  let (object, tally) = (Delivered(), Tally())
  return Workload(exactly: 10_000) { count in
    inTask {
      var numbers = object.values(of: \.number, options: []).makeAsyncIterator()
      for number in 0..<count {
        set(object, number)
        tally.add(await numbers.next()!)
      }
    }
  }
}

private func bareStream() -> Workload {
  let tally = Tally()
  return Workload(exactly: 10_000) { count in
    inTask {
      let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
      var iterator = numbers.makeAsyncIterator()
      for number in 0..<count {
        continuation.yield(number)
        tally.add(await iterator.next()!)
      }
    }
  }
}

private func streamedToLoop() -> Workload {
  let (object, tally) = (Delivered(), Tally())
  return Workload(exactly: 10_000) { count in
    let numbers = object.values(of: \.number, options: [])
    inTask {
      async let loop: Void = {
        for await number in numbers {
          tally.add(number)
          if number == count - 1 { break }
        }
      }()
      for number in 0..<count { set(object, number) }
      await loop
    }
  }
}

private func bareStreamToLoop() -> Workload {
  let tally = Tally()
  return Workload(exactly: 10_000) { count in
    let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
    inTask {
      async let loop: Void = {
        for await number in numbers {
          tally.add(number)
          if number == count - 1 { break }
        }
      }()
      for number in 0..<count { continuation.yield(number) }
      await loop
    }
  }
}

private func coalescedSet() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.number, options: [.new]) { _, change in tally.add(change.newValue!) }
  return Workload { count in
    var done = 0
    while done < count {
      let next = min(100, count - done)
      withCoalescedChanges(of: object) { times(next) { set(object, $0) } }
      done += next
    }
    withExtendedLifetime(token) {}
  }
}
