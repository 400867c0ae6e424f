// Rows: a set of one observed property, by the observers' options and by their number.

import KeyValueObserving

extension Row {
  static var observed: [Row] {
    [
      // Without options a change has no value; the observer reads the property, so that it does the same work as the peers'.
      Row(
        "observed set, Int, 1 closure, options none", { observedSet(observers: 1) },
        .qt("set-1", "signal, 1 lambda", bar: 0.5),
        .qt("property-set-1", "QProperty, onValueChanged", bar: 0.45),
        .here("didSet that calls a list of 1 closure") { .handwritten(handlers: 1) },
        .glib("set-1", "notify::, 1 handler"),
        .gnustep("set-none", "KVO, options none")),
      Row(
        "observed set, Int, 1 closure, options new", observedSetWithNew,
        .here("@Observable, tracked and re-armed", bar: 0.08) { .observation() },
        .here("OpenCombine @Published, 1 sink") { .published(sinks: 1) },
        .here("OpenCombine CurrentValueSubject, 1 sink") { .currentValueSubject(sinks: 1) },
        .qt("property-set-1", "QProperty, onValueChanged"),
        .gnustep("set-new", "KVO, options new")),
      Row(
        "observed set, Int, 1 closure, options old and new", observedSetWithOldAndNew,
        .qt("set-old-new", "signal with old and new, 1 lambda", bar: 0.5),
        .gnustep("set-old-new", "KVO, options old and new", bar: 0.05),
        .here("didSet that calls a list of 1 closure") { .handwrittenWithOldValue() }),
      Row(
        "observed set, Int, 1 closure, options prior, old and new", observedSetWithPrior,
        .gnustep("set-prior", "KVO, options prior, old and new"),
        .here("willSet and didSet that each call a list of 1 closure") { .handwrittenWithPrior() }),
      Row(
        "observed set, Int, 10 closures, options none", { observedSet(observers: 10) },
        .qt("set-10", "signal, 10 lambdas"),
        .qt("property-set-10", "QProperty, 10 onValueChanged", bar: 0.52),
        .here("didSet that calls a list of 10 closures") { .handwritten(handlers: 10) },
        .here("OpenCombine @Published, 10 sinks") { .published(sinks: 10) },
        .glib("set-10", "notify::, 10 handlers"),
        .gnustep("set-10", "KVO, 10 observers")),
      Row(
        "observed set, Int, 100 closures, options none", { observedSet(observers: 100) },
        .qt("set-100", "signal, 100 lambdas", bar: 0.45),
        .qt("property-set-100", "QProperty, 100 onValueChanged"),
        .here("didSet that calls a list of 100 closures") { .handwritten(handlers: 100) },
        .here("OpenCombine @Published, 100 sinks") { .published(sinks: 100) },
        .glib("set-100", "notify::, 100 handlers"),
        .gnustep("set-100", "KVO, 100 observers")),
    ]
  }

  /// The numbers of observers that the plot has between those above.
  static var numbers: [Row] {
    [2, 5, 20, 50].map { number in
      Row(
        "observed set, Int, \(number) closures, options none", { observedSet(observers: number) },
        .qt("set-\(number)", "signal, \(number) lambdas"),
        .qt("property-set-\(number)", "QProperty, \(number) onValueChanged"),
        .here("didSet that calls a list of \(number) closures") { .handwritten(handlers: number) },
        .glib("set-\(number)", "notify::, \(number) handlers"))
    }
  }
}

// Each handler is a closure literal at its registration; if it were passed as an argument, an additional closure would call it.

private func observedSet(observers: Int) -> Workload {
  let (object, tally) = (Observable(), Tally())
  let tokens = (0..<observers).map { _ in object.observe(\.number) { object, _ in tally.add(object.number) } }
  return .setting(object, keeping: tokens)
}

private func observedSetWithNew() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.number, options: [.new]) { _, change in tally.add(change.newValue!) }
  return .setting(object, keeping: token)
}

private func observedSetWithOldAndNew() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.number, options: [.old, .new]) { _, change in
    tally.add(change.oldValue! &+ change.newValue!)
  }
  return .setting(object, keeping: token)
}

private func observedSetWithPrior() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.number, options: [.prior, .old, .new]) { _, change in
    tally.add(change.oldValue! &+ (change.newValue ?? 0))
  }
  return .setting(object, keeping: token)
}
