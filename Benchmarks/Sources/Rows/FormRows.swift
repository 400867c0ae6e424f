// Rows: a form of 50 fields, and 20 computed values that each read three of them; all 70 are observed.

import KeyValueObserving

extension Row {
  static var forms: [Row] {
    [
      Row(
        "form of 50 fields and 20 computed values, set of a field", settingFields,
        .here("@Observable, tracked and re-armed", settingTrackedFields),
        .here("OpenCombine CurrentValueSubject, sinks", settingSubjects))
    ]
  }
}

@KeyValueObservable
private final class Form {
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

private var computedValues: [KeyPath<Form, Int>] {
  [
    \.c0, \.c1, \.c2, \.c3, \.c4, \.c5, \.c6, \.c7, \.c8, \.c9, \.c10, \.c11, \.c12, \.c13, \.c14, \.c15, \.c16, \.c17,
    \.c18, \.c19,
  ]
}

private var settable: [(path: KeyPath<Form, Int>, set: (Form, Int) -> Void)] {
  [
    (\.f0, { $0.f0 = $1 }),
    (\.f1, { $0.f1 = $1 }),
    (\.f2, { $0.f2 = $1 }),
    (\.f3, { $0.f3 = $1 }),
    (\.f4, { $0.f4 = $1 }),
    (\.f5, { $0.f5 = $1 }),
    (\.f6, { $0.f6 = $1 }),
    (\.f7, { $0.f7 = $1 }),
    (\.f8, { $0.f8 = $1 }),
    (\.f9, { $0.f9 = $1 }),
    (\.f10, { $0.f10 = $1 }),
    (\.f11, { $0.f11 = $1 }),
    (\.f12, { $0.f12 = $1 }),
    (\.f13, { $0.f13 = $1 }),
    (\.f14, { $0.f14 = $1 }),
    (\.f15, { $0.f15 = $1 }),
    (\.f16, { $0.f16 = $1 }),
    (\.f17, { $0.f17 = $1 }),
    (\.f18, { $0.f18 = $1 }),
    (\.f19, { $0.f19 = $1 }),
    (\.f20, { $0.f20 = $1 }),
    (\.f21, { $0.f21 = $1 }),
    (\.f22, { $0.f22 = $1 }),
    (\.f23, { $0.f23 = $1 }),
    (\.f24, { $0.f24 = $1 }),
    (\.f25, { $0.f25 = $1 }),
    (\.f26, { $0.f26 = $1 }),
    (\.f27, { $0.f27 = $1 }),
    (\.f28, { $0.f28 = $1 }),
    (\.f29, { $0.f29 = $1 }),
    (\.f30, { $0.f30 = $1 }),
    (\.f31, { $0.f31 = $1 }),
    (\.f32, { $0.f32 = $1 }),
    (\.f33, { $0.f33 = $1 }),
    (\.f34, { $0.f34 = $1 }),
    (\.f35, { $0.f35 = $1 }),
    (\.f36, { $0.f36 = $1 }),
    (\.f37, { $0.f37 = $1 }),
    (\.f38, { $0.f38 = $1 }),
    (\.f39, { $0.f39 = $1 }),
    (\.f40, { $0.f40 = $1 }),
    (\.f41, { $0.f41 = $1 }),
    (\.f42, { $0.f42 = $1 }),
    (\.f43, { $0.f43 = $1 }),
    (\.f44, { $0.f44 = $1 }),
    (\.f45, { $0.f45 = $1 }),
    (\.f46, { $0.f46 = $1 }),
    (\.f47, { $0.f47 = $1 }),
    (\.f48, { $0.f48 = $1 }),
    (\.f49, { $0.f49 = $1 }),
  ]
}

private func settingFields() -> Workload {
  let (form, tally, fields) = (Form(), Tally(), settable)
  let tokens = (fields.map(\.path) + computedValues).map { path in
    form.observe(path, options: [.new]) { _, change in tally.add(change.newValue!) }
  }
  return Workload { count in
    for index in 0..<count { fields[index % fields.count].set(form, index) }
    withExtendedLifetime(tokens) {}
  }
}
