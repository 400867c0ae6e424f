// The rows: what observing costs while nobody observes, while somebody does, and behind a C setter.

import Benchmark
import CKVO
import CPeers
import KeyValueObserving

nonisolated(unsafe) private var observable = Observable()
nonisolated(unsafe) private var plain = Plain()
nonisolated(unsafe) private var handwritten = Handwritten()
nonisolated(unsafe) private let observables = (0..<64).map { _ in Observable() }
nonisolated(unsafe) private let plains = (0..<64).map { _ in Plain() }
nonisolated(unsafe) private var token: NSKeyValueObservation?
nonisolated(unsafe) private var sum = 0

private func fresh() {
  observable = Observable()
  plain = Plain()
  handwritten = Handwritten()
}

/// An object that was observed and is no longer.
private func onceObserved() {
  fresh()
  observable.observe(\.number) { _, _ in }.invalidate()
  observable.observe(\.text) { _, _ in }.invalidate()
}

// The object is a local of the loop, as it would be in a program: a global would be loaded, retained and released each time.

private func setNumbers(_ count: Int) {
  let object = observable
  for index in 0..<count { set(object, index) }
}

private func setPlainNumbers(_ count: Int) {
  let object = plain
  for index in 0..<count { set(object, index) }
}

private func setHandwrittenNumbers(_ count: Int) {
  let object = handwritten
  for index in 0..<count { set(object, index) }
}

private func setTexts(_ count: Int) {
  let (object, texts) = (observable, texts)
  for index in 0..<count { set(object, texts[index & 1]) }
}

private func setPlainTexts(_ count: Int) {
  let (object, texts) = (plain, texts)
  for index in 0..<count { set(object, texts[index & 1]) }
}

// A getter has no effect, so that a loop over one object would call it once; and many objects are loaded, but not retained.

private func getNumbers(_ count: Int) {
  let objects = observables.map(Unmanaged.passUnretained)
  var own = 0
  for index in 0..<count { objects[index & 63]._withUnsafeGuaranteedRef { own &+= get($0) } }
  sum &+= own
}

private func getPlainNumbers(_ count: Int) {
  let objects = plains.map(Unmanaged.passUnretained)
  var own = 0
  for index in 0..<count { objects[index & 63]._withUnsafeGuaranteedRef { own &+= get($0) } }
  sum &+= own
}

private func appendItems(_ count: Int) {
  let object = observable
  for index in 0..<count { append(object, index) }
}

private func appendPlainItems(_ count: Int) {
  let object = plain
  for index in 0..<count { append(object, index) }
}

// The entry point that the benchmark tool looks for.
nonisolated(unsafe) let benchmarks: @Sendable () -> Void = {
  let store = "plain stored property"
  compare(
    "unobserved set, Int", bar: 1.1, against: store, operations: 2_000_000, setup: fresh, ours: setNumbers,
    peer: setPlainNumbers)
  compare("unobserved set, String", bar: 1.1, against: store, setup: fresh, ours: setTexts, peer: setPlainTexts)
  compare(
    "set after the last removal, Int", bar: 1.1, against: store, operations: 2_000_000, setup: onceObserved,
    ours: setNumbers,
    peer: setPlainNumbers)
  compare(
    "set after the last removal, String", bar: 1.1, against: store, setup: onceObserved, ours: setTexts,
    peer: setPlainTexts)
  compare(
    "get, Int", bar: 1.35, against: store, operations: 2_000_000, setup: fresh, ours: getNumbers, peer: getPlainNumbers)
  compare(
    "append to an unobserved array of 100 000", bar: 2, against: store, operations: 10_000,
    setup: {
      fresh()
      // Room for all that is appended: growing would copy, in one or the other by chance.
      observable.items.reserveCapacity(2_000_000)
      plain.items.reserveCapacity(2_000_000)
      observable.items += 0..<100_000
      plain.items += 0..<100_000
    },
    ours: appendItems, peer: appendPlainItems)
  compare(
    "observed set, Int, one closure, old and new", bar: 5, against: "didSet that calls a list of closures",
    setup: {
      fresh()
      token = observable.observe(\.number, options: [.old, .new]) { _, change in
        sum &+= change.oldValue! &+ change.newValue!
      }
      handwritten.handlers.append { sum &+= $0 &+ $1 }
    },
    ours: setNumbers, peer: setHandwrittenNumbers,
    teardown: { token = nil })
  compare(
    "C setter through a trampoline, one C observer, old and new", bar: 2, subject: "libkvo",
    against: "bare libffi closure with ffi_call", setup: { precondition(cpeers_prepare() != 0) },
    ours: { cpeers_set_observed($0) },
    peer: { cpeers_set_bare_closure($0) })
  compareSizes("bytes of an unobserved object", bar: 8, ours: Observable.self, peer: Plain.self)
}
