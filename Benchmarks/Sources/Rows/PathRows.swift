// Rows: nested key paths and computed properties.

import KeyValueObserving

extension Row {
  static var paths: [Row] {
    [
      Row(
        "nested path, leaf set", leafSet,
        .qt("property-leaf", "QProperty, bound through a pointer", bar: 0.6),
        .gnustep("leaf", "KVO, nested path")),
      Row(
        "nested path with optional chaining, leaf set", leafSetThroughOptional,
        .qt("property-leaf", "QProperty, bound through a pointer", bar: 0.6)),
      Row(
        "nested path, head replaced", headReplacement,
        .qt("property-head", "QProperty, bound through a pointer", bar: 3.5),
        .gnustep("head", "KVO, nested path")),
      Row(
        "computed property, set of what it reads", dependent,
        .here("@Observable, tracked and re-armed", bar: 0.15) { .observationOfComputed() },
        .qt("property-dependent", "QProperty, bound", bar: 3),
        .gnustep("dependent", "KVO, dependent key")),
    ]
  }
}

private func leafSet() -> Workload {
  let (leaf, tally) = (Observable(), Tally())
  let owner = Owner(head: leaf)
  let token = owner.observe(\.head.number, options: [.new]) { _, change in tally.add(change.newValue!) }
  return .setting(leaf, keeping: (owner, token))
}

private func leafSetThroughOptional() -> Workload {
  let (leaf, tally) = (Observable(), Tally())
  let owner = Owner(head: leaf)
  let token = owner.observe(\.next?.number, options: [.new]) { _, change in tally.add(change.newValue!!) }
  return .setting(leaf, keeping: (owner, token))
}

private func headReplacement() -> Workload {
  let (leaves, tally) = ([Observable(), Observable()], Tally())
  leaves[1].number = 1
  let owner = Owner(head: leaves[0])
  let token = owner.observe(\.head.number, options: [.new]) { _, change in tally.add(change.newValue!) }
  return Workload { count in
    for index in 0..<count { replaceHead(owner, leaves[index & 1]) }
    withExtendedLifetime(token) {}
  }
}

private func dependent() -> Workload {
  let (object, tally) = (Observable(), Tally())
  let token = object.observe(\.doubled, options: [.new]) { _, change in tally.add(change.newValue!) }
  return .setting(object, keeping: token)
}
