// Rows: registration and end of observations.

import KeyValueObserving

extension Row {
  static var lifetimes: [Row] {
    [
      Row(
        "observe and invalidate, nobody else observes", { observing(Observable()) },
        .qt("observe", "connect and disconnect", bar: 1.2),
        .gnustep("observe", "KVO, add and remove", bar: 0.25),
        .qt("property-observe", "QProperty, onValueChanged and its end"),
        .here("OpenCombine CurrentValueSubject, sink and cancel") { .sinkAndCancel() },
        .glib("observe", "signal, connect and disconnect")),
      Row(
        "observe and invalidate, the object is observed otherwise",
        {
          let object = Observable()
          let token = object.observe(\.number) { _, _ in }
          return observing(object, keeping: token)
        },
        .qt("observe-observed", "connect and disconnect, connected otherwise", bar: 2),
        .gnustep("observe-observed", "KVO, add and remove, observed otherwise", bar: 0.25),
        .glib("observe-observed", "signal, connect and disconnect, connected otherwise")),
      Row(
        "first observation of a new object", firstObservation, .qt("first", "connect, first of a new object", bar: 1.8),
        .glib("first", "signal, connect, first of a new object"),
        .gnustep("first", "KVO, add, first of a new object")),
    ]
  }
}

private func observing(_ object: Observable, keeping others: Any = ()) -> Workload {
  let tally = Tally()
  return Workload { count in
    for _ in 0..<count { object.observe(\.number) { object, _ in tally.add(object.number) }.invalidate() }
    withExtendedLifetime(others) {}
  }
}

/// New objects for each turn, created and released outside the measured time.
private final class Fresh {
  var objects: [Observable] = []
  var tokens: [NSKeyValueObservation] = []

  func prepare(_ count: Int) {
    tokens.removeAll(keepingCapacity: true)
    tokens.reserveCapacity(count)
    objects = (0..<count).map { _ in Observable() }
  }
}

private func firstObservation() -> Workload {
  let (fresh, tally) = (Fresh(), Tally())
  return Workload(limit: 100_000, prepare: fresh.prepare) { count in
    for object in fresh.objects {
      fresh.tokens.append(object.observe(\.number) { object, _ in tally.add(object.number) })
    }
  }
}
