// The form of FormRows.swift with Swift's Observation, and with OpenCombine.

import Observation
import OpenCombine

// MARK: - Observation

@Observation.Observable
private final class TrackedForm {
  var f0 = 0
  var f1 = 0
  var f2 = 0
  var f3 = 0
  var f4 = 0
  var f5 = 0
  var f6 = 0
  var f7 = 0
  var f8 = 0
  var f9 = 0
  var f10 = 0
  var f11 = 0
  var f12 = 0
  var f13 = 0
  var f14 = 0
  var f15 = 0
  var f16 = 0
  var f17 = 0
  var f18 = 0
  var f19 = 0
  var f20 = 0
  var f21 = 0
  var f22 = 0
  var f23 = 0
  var f24 = 0
  var f25 = 0
  var f26 = 0
  var f27 = 0
  var f28 = 0
  var f29 = 0
  var f30 = 0
  var f31 = 0
  var f32 = 0
  var f33 = 0
  var f34 = 0
  var f35 = 0
  var f36 = 0
  var f37 = 0
  var f38 = 0
  var f39 = 0
  var f40 = 0
  var f41 = 0
  var f42 = 0
  var f43 = 0
  var f44 = 0
  var f45 = 0
  var f46 = 0
  var f47 = 0
  var f48 = 0
  var f49 = 0

  var c0: Int { f0 &+ f1 &* f30 }
  var c1: Int { f2 &+ f3 &* f31 }
  var c2: Int { f4 &+ f5 &* f32 }
  var c3: Int { f6 &+ f7 &* f33 }
  var c4: Int { f8 &+ f9 &* f34 }
  var c5: Int { f10 &+ f11 &* f35 }
  var c6: Int { f12 &+ f13 &* f36 }
  var c7: Int { f14 &+ f15 &* f37 }
  var c8: Int { f16 &+ f17 &* f38 }
  var c9: Int { f18 &+ f19 &* f39 }
  var c10: Int { f20 &+ f21 &* f40 }
  var c11: Int { f22 &+ f23 &* f41 }
  var c12: Int { f24 &+ f25 &* f42 }
  var c13: Int { f26 &+ f27 &* f43 }
  var c14: Int { f28 &+ f29 &* f44 }
  var c15: Int { f30 &+ f31 &* f45 }
  var c16: Int { f32 &+ f33 &* f46 }
  var c17: Int { f34 &+ f35 &* f47 }
  var c18: Int { f36 &+ f37 &* f48 }
  var c19: Int { f38 &+ f39 &* f49 }
}

private typealias Getter = (TrackedForm) -> Int

private var computedValues: [Getter] {
  [
    { $0.c0 }, { $0.c1 }, { $0.c2 }, { $0.c3 }, { $0.c4 }, { $0.c5 }, { $0.c6 }, { $0.c7 }, { $0.c8 }, { $0.c9 },
    { $0.c10 }, { $0.c11 }, { $0.c12 }, { $0.c13 }, { $0.c14 }, { $0.c15 }, { $0.c16 }, { $0.c17 }, { $0.c18 },
    { $0.c19 },
  ]
}

private var settable: [(get: Getter, set: (TrackedForm, Int) -> Void)] {
  [
    ({ $0.f0 }, { $0.f0 = $1 }),
    ({ $0.f1 }, { $0.f1 = $1 }),
    ({ $0.f2 }, { $0.f2 = $1 }),
    ({ $0.f3 }, { $0.f3 = $1 }),
    ({ $0.f4 }, { $0.f4 = $1 }),
    ({ $0.f5 }, { $0.f5 = $1 }),
    ({ $0.f6 }, { $0.f6 = $1 }),
    ({ $0.f7 }, { $0.f7 = $1 }),
    ({ $0.f8 }, { $0.f8 = $1 }),
    ({ $0.f9 }, { $0.f9 = $1 }),
    ({ $0.f10 }, { $0.f10 = $1 }),
    ({ $0.f11 }, { $0.f11 = $1 }),
    ({ $0.f12 }, { $0.f12 = $1 }),
    ({ $0.f13 }, { $0.f13 = $1 }),
    ({ $0.f14 }, { $0.f14 = $1 }),
    ({ $0.f15 }, { $0.f15 = $1 }),
    ({ $0.f16 }, { $0.f16 = $1 }),
    ({ $0.f17 }, { $0.f17 = $1 }),
    ({ $0.f18 }, { $0.f18 = $1 }),
    ({ $0.f19 }, { $0.f19 = $1 }),
    ({ $0.f20 }, { $0.f20 = $1 }),
    ({ $0.f21 }, { $0.f21 = $1 }),
    ({ $0.f22 }, { $0.f22 = $1 }),
    ({ $0.f23 }, { $0.f23 = $1 }),
    ({ $0.f24 }, { $0.f24 = $1 }),
    ({ $0.f25 }, { $0.f25 = $1 }),
    ({ $0.f26 }, { $0.f26 = $1 }),
    ({ $0.f27 }, { $0.f27 = $1 }),
    ({ $0.f28 }, { $0.f28 = $1 }),
    ({ $0.f29 }, { $0.f29 = $1 }),
    ({ $0.f30 }, { $0.f30 = $1 }),
    ({ $0.f31 }, { $0.f31 = $1 }),
    ({ $0.f32 }, { $0.f32 = $1 }),
    ({ $0.f33 }, { $0.f33 = $1 }),
    ({ $0.f34 }, { $0.f34 = $1 }),
    ({ $0.f35 }, { $0.f35 = $1 }),
    ({ $0.f36 }, { $0.f36 = $1 }),
    ({ $0.f37 }, { $0.f37 = $1 }),
    ({ $0.f38 }, { $0.f38 = $1 }),
    ({ $0.f39 }, { $0.f39 = $1 }),
    ({ $0.f40 }, { $0.f40 = $1 }),
    ({ $0.f41 }, { $0.f41 = $1 }),
    ({ $0.f42 }, { $0.f42 = $1 }),
    ({ $0.f43 }, { $0.f43 = $1 }),
    ({ $0.f44 }, { $0.f44 = $1 }),
    ({ $0.f45 }, { $0.f45 = $1 }),
    ({ $0.f46 }, { $0.f46 = $1 }),
    ({ $0.f47 }, { $0.f47 = $1 }),
    ({ $0.f48 }, { $0.f48 = $1 }),
    ({ $0.f49 }, { $0.f49 = $1 }),
  ]
}

/// Shows each value, and shows it again after a change, because tracking ends with the first one.
private final class TrackedScreen: @unchecked Sendable {
  let (form, tally) = (TrackedForm(), Tally())
  private let values: [Getter]
  private var changed: [Int] = []

  init(_ values: [Getter]) {
    self.values = values
    for value in values.indices { show(value) }
  }

  private func show(_ value: Int) {
    tally.add(
      withObservationTracking {
        values[value](form)
      } onChange: { [unowned self] in
        changed.append(value)
      })
  }

  func update() {
    for value in changed { show(value) }
    changed.removeAll(keepingCapacity: true)
  }
}

func settingTrackedFields() -> Workload {
  let fields = settable
  let screen = TrackedScreen(fields.map(\.get) + computedValues)
  return Workload { count in
    for index in 0..<count {
      fields[index % fields.count].set(screen.form, index)
      screen.update()
    }
  }
}

// MARK: - OpenCombine

/// Subjects, because their observers read the values of the others; it has no `combineLatest`.
func settingSubjects() -> Workload {
  let tally = Tally()
  let fields = (0..<50).map { _ in CurrentValueSubject<Int, Never>(0) }
  var sinks = fields.map { $0.sink { tally.add($0) } }
  for index in 0..<20 {
    let (first, second, third) = (fields[2 * index], fields[2 * index + 1], fields[30 + index])
    let computed = CurrentValueSubject<Int, Never>(0)
    for field in [first, second, third] {
      sinks.append(field.sink { _ in computed.value = first.value &+ second.value &* third.value })
    }
    sinks.append(computed.sink { tally.add($0) })
  }
  return Workload { [sinks] count in
    for index in 0..<count { fields[index % fields.count].value = index }
    withExtendedLifetime(sinks) {}
  }
}
