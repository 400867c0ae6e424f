// Rows: bindings between properties.

import CRows
import KeyValueObserving
import OpenCombine

extension Row {
  static var bindings: [Row] {
    [
      Row(
        "set of a source, one-way binding, Int", oneWaySet,
        .here("OpenCombine assign(to:on:)", bar: 0.15, assigned),
        .qt("property-bound", "QProperty, bound", bar: 0.55)),
      Row(
        "set of one side, two-way binding, Int", twoWaySet,
        .qt("property-bound", "QProperty, bound", bar: 2)),
      Row(
        "chain of 100 bindings, each link", chainSet,
        .qt("property-chain", "QProperty, the same chain", bar: 1)),
      Row(
        "set of one of 3 properties that a bound expression reads", expressionSet,
        .qt("property-bound-3", "QProperty, bound to 3", bar: 2)),
      Row(
        "set of the corner of a grid of 81, each bound to left + up", gridSet,
        .qt("property-grid", "QProperty, the same grid", bar: 0.1)),
      Row(
        "the same grid in C, kvo_bind_computed", subject: "libkvo", { Workload(run: crows_set_corner) },
        .qt("property-grid", "QProperty, the same grid", bar: 0.1)),
    ]
  }
}

private func oneWaySet() -> Workload {
  let (source, target) = (Observable(), Observable())
  source.source(\.number).bind(to: target, \.number)
  return .setting(source, keeping: target)
}

private func assigned() -> Workload {
  let (source, target) = (Published(), Observable())
  let token = source.$number.assign(to: \.number, on: target)
  return Workload { count in
    times(count) { set(source, $0) }
    withExtendedLifetime(token) {}
  }
}

private func twoWaySet() -> Workload {
  let (left, right) = (Observable(), Observable())
  left.bindTwoWay(\.number, with: right, \.number)
  return .setting(right, keeping: left)
}

private func chainSet() -> Workload {
  let objects = (0...100).map { _ in Observable() }
  for (source, target) in zip(objects, objects.dropFirst()) {
    source.source(\.number).bind(to: target, \.number)
  }
  return Workload { count in
    // A count of a thousand is ten sets.
    for value in 0..<max(1, count / 100) { set(objects[0], value) }
  }
}

private func expressionSet() -> Workload {
  let (objects, target) = ((0..<3).map { _ in Observable() }, Observable())
  let (one, second, third) = (objects[0], objects[1], objects[2])
  target.bind(\.number) { one.number &+ second.number &+ third.number }
  return .setting(one, keeping: target)
}

private func gridSet() -> Workload {
  let (side, tally) = (9, Tally())
  let cells = (0..<side * side).map { _ in Observable() }
  for index in 1..<cells.count {
    let left = index % side > 0 ? cells[index - 1] : nil
    let up = index >= side ? cells[index - side] : nil
    cells[index].bind(\.number) { (left?.number ?? 0) &+ (up?.number ?? 0) }
  }
  let token = cells[cells.count - 1].observe(\.number, options: [.new]) { _, change in tally.add(change.newValue!) }
  return .setting(cells[0], keeping: (cells, token))
}
