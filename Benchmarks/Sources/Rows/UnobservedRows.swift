// Rows: the cost of a property without observers.

import KeyValueObserving

extension Row {
  private static let plain = "plain stored property"

  static var unobserved: [Row] {
    [
      Row(
        "unobserved set, Int", { .setting(Observable()) },
        .here(plain, bar: 1.1) { .setting(Plain()) },
        .here("didSet that calls an empty list of closures") { .handwritten(handlers: 0) },
        .here("@Observable, not tracked") { .observationUnobserved() },
        .here("OpenCombine @Published, no sink") { .published(sinks: 0) },
        .here("OpenCombine CurrentValueSubject, no sink") { .currentValueSubject(sinks: 0) },
        .qt("set-unobserved", "signal, not connected"),
        .qt("property-set-unobserved", "QProperty, no observer"),
        .glib("set-unobserved", "notify::, no handler"),
        .gnustep("set-unobserved", "setter, not observed")),
      Row("unobserved set, String", { settingTexts(Observable()) }, .here(plain, bar: 1.1) { settingTexts(Plain()) }),
      Row("unobserved set, struct", { settingPlaces(Observable()) }, .here(plain, bar: 1.1) { settingPlaces(Plain()) }),
      Row(
        "unobserved set, Int, non-final class", { setting(OpenObservable()) },
        .here("\(plain), non-final class", bar: 1.1) { setting(OpenPlain()) }),
      Row(
        "set after the last removal, Int", { .setting(onceObserved()) }, .here(plain, bar: 1.1) { .setting(Plain()) }),
      Row(
        "set after the last removal, String", { settingTexts(onceObserved()) },
        .here(plain, bar: 1.1) { settingTexts(Plain()) }),
      Row(
        "set after the last removal, struct", { settingPlaces(onceObserved()) },
        .here(plain, bar: 1.1) { settingPlaces(Plain()) }),
      Row(
        "set after the last removal, Int, non-final class",
        {
          let object = OpenObservable()
          object.observe(\.number) { _, _ in }.invalidate()
          return setting(object)
        },
        .here("\(plain), non-final class", bar: 1.1) { setting(OpenPlain()) }),
      Row(
        "unobserved get, Int", { gettingNumbers(from: many(Observable.init)) },
        .here(plain, bar: 1.1) { gettingNumbers(from: many(Plain.init)) }),
      Row(
        "unobserved get, String", { gettingTexts(from: many(Observable.init)) },
        .here(plain, bar: 1.1) { gettingTexts(from: many(Plain.init)) }),
      Row(
        "unobserved get, struct", { gettingPlaces(from: many(Observable.init)) },
        .here(plain, bar: 1.1) { gettingPlaces(from: many(Plain.init)) }),
      Row("unobserved += of an Int", { adding(to: Observable()) }, .here(plain, bar: 1.1) { adding(to: Plain()) }),
      Row(
        "append in place to an unobserved array of 100 000", { appending(to: Observable()) },
        .here(plain, bar: 1.1) { appending(to: Plain()) }),
    ]
  }
}

/// Returns an object that was observed and is no longer.
private func onceObserved() -> Observable {
  let object = Observable()
  object.observe(\.number) { _, _ in }.invalidate()
  object.observe(\.text) { _, _ in }.invalidate()
  object.observe(\.place) { _, _ in }.invalidate()
  return object
}

// Each loop is written for one class. If it were generic, the compiler might specialise only one side of a comparison.

private func setting(_ object: OpenObservable) -> Workload {
  Workload { count in
    times(count) { set(object, $0) }
  }
}

private func setting(_ object: OpenPlain) -> Workload {
  Workload { count in
    times(count) { set(object, $0) }
  }
}

/// Strings that are too long to be stored inline, so that each store counts references.
private let texts = ["a text that is too long for its variable", "another text that is too long for it"]

private func settingTexts(_ object: Observable) -> Workload {
  Workload { [texts] count in
    times(count) { set(object, texts[$0 & 1]) }
  }
}

private func settingTexts(_ object: Plain) -> Workload {
  Workload { [texts] count in
    times(count) { set(object, texts[$0 & 1]) }
  }
}

private func settingPlaces(_ object: Observable) -> Workload {
  Workload { count in
    times(count) { set(object, Place(x: Double($0), y: 1)) }
  }
}

private func settingPlaces(_ object: Plain) -> Workload {
  Workload { count in
    times(count) { set(object, Place(x: Double($0), y: 1)) }
  }
}

// A getter has no side effect, so the compiler would call it once in a loop over one object. Therefore many objects are read; they
// are not retained.

private func gettingNumbers(from owners: [Observable]) -> Workload {
  let tally = Tally()
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(get($0)) } }
  }
}

private func gettingNumbers(from owners: [Plain]) -> Workload {
  let tally = Tally()
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(get($0)) } }
  }
}

private func gettingTexts(from owners: [Observable]) -> Workload {
  let tally = Tally()
  for owner in owners { owner.text = texts[0] }
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(get($0).utf8.count) } }
  }
}

private func gettingTexts(from owners: [Plain]) -> Workload {
  let tally = Tally()
  for owner in owners { owner.text = texts[0] }
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(get($0).utf8.count) } }
  }
}

private func gettingPlaces(from owners: [Observable]) -> Workload {
  let tally = Tally()
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(Int(get($0).x)) } }
  }
}

private func gettingPlaces(from owners: [Plain]) -> Workload {
  let tally = Tally()
  return Workload { count in
    let objects = owners.map(Unmanaged.passUnretained)
    times(count) { objects[$0 & 63]._withUnsafeGuaranteedRef { tally.add(Int(get($0).x)) } }
  }
}

private func many<Object>(_ make: () -> Object) -> [Object] { (0..<64).map { _ in make() } }

private func adding(to object: Observable) -> Workload {
  Workload { count in
    times(count) { add($0, to: object) }
  }
}

private func adding(to object: Plain) -> Workload {
  Workload { count in
    times(count) { add($0, to: object) }
  }
}

/// The capacity for all elements appended in a turn. Growing would copy the array at random times.
private let (appendLimit, appendStart) = (1_000_000, 100_000)

private func appending(to object: Observable) -> Workload {
  object.items.reserveCapacity(appendStart + appendLimit)
  object.items += 0..<appendStart
  return Workload(limit: appendLimit) { _ in
    object.items.removeSubrange(appendStart...)
  } run: { count in
    for index in 0..<count { append(object, index) }
  }
}

private func appending(to object: Plain) -> Workload {
  object.items.reserveCapacity(appendStart + appendLimit)
  object.items += 0..<appendStart
  return Workload(limit: appendLimit) { _ in
    object.items.removeSubrange(appendStart...)
  } run: { count in
    for index in 0..<count { append(object, index) }
  }
}
