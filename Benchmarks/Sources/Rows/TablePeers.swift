// The table of TableRows.swift with Swift's Observation, and with OpenCombine.

import Observation
import OpenCombine

// MARK: - Observation

@Observation.Observable
private final class TrackedEntry {
  var amount: Int
  let number: Int

  init(amount: Int, number: Int) { (self.amount, self.number) = (amount, number) }
}

@Observation.Observable
private final class TrackedTable {
  var entries: [TrackedEntry] = []
  var limit = 0
  var shown: [TrackedEntry] { entries.filter { $0.amount < limit } }
}

/// A view that tracks again what has changed, after each change, because tracking ends with the first one.
private final class TrackingView {
  let (table, tally) = (TrackedTable(), Tally())

  init() { trackCount() }

  func trackCount() {
    tally.add(
      withObservationTracking {
        table.entries.count
      } onChange: { [tally] in
        tally.add(1)
      })
  }

  func track(_ entry: TrackedEntry) {
    tally.add(
      withObservationTracking {
        entry.amount
      } onChange: { [tally] in
        tally.add(1)
      })
  }

  func trackShown() {
    tally.add(
      withObservationTracking {
        table.shown.count
      } onChange: { [tally] in
        tally.add(1)
      })
  }

  func fill() {
    for index in 0..<tableSize {
      let entry = TrackedEntry(amount: tableColumns.amounts[index], number: tableColumns.numbers[index])
      track(entry)
      table.entries.append(entry)
      trackCount()
    }
  }
}

private func filledTracking() -> TrackingView {
  let view = TrackingView()
  view.fill()
  return view
}

func fillingTracked() -> Workload {
  nonisolated(unsafe) var view = TrackingView()
  return Workload(limit: 1) { _ in
    view = TrackingView()
  } run: { _ in
    view.fill()
  }
}

func editingTracked() -> Workload {
  let view = filledTracking()
  return Workload { count in
    for index in 0..<count {
      for entry in view.table.entries {
        entry.amount = index
        view.track(entry)
      }
    }
  }
}

func sortingTracked() -> Workload {
  let view = filledTracking()
  return Workload { count in
    for index in 0..<count {
      if index.isMultiple(of: 2) {
        view.table.entries.sort { $0.amount < $1.amount }
      } else {
        view.table.entries.sort { $0.number < $1.number }
      }
      view.trackCount()
    }
  }
}

func filteringTracked() -> Workload {
  let view = filledTracking()
  view.trackShown()
  return Workload { count in
    for index in 0..<count {
      view.table.limit = tableLimits[index & 1]
      view.trackShown()
    }
  }
}

// MARK: - OpenCombine

private final class PublishedEntry {
  @OpenCombine.Published var amount: Int
  let number: Int

  init(amount: Int, number: Int) {
    self.amount = amount
    self.number = number
  }
}

private final class PublishedTable {
  @OpenCombine.Published var entries: [PublishedEntry] = []
  @OpenCombine.Published var limit = 0
}

private final class PublishedView {
  let (table, tally) = (PublishedTable(), Tally())
  private var sinks: [AnyCancellable] = []

  init() {
    sinks = [table.$entries.sink { [tally] in tally.add($0.count) }]
    sinks.reserveCapacity(tableSize + 2)
  }

  func fill() {
    for index in 0..<tableSize {
      let entry = PublishedEntry(amount: tableColumns.amounts[index], number: tableColumns.numbers[index])
      sinks.append(entry.$amount.sink { [tally] in tally.add($0) })
      table.entries.append(entry)
    }
  }

  /// Unlike the others, it does not depend on the amounts: a program would have to subscribe to each row.
  func filter() {
    sinks.append(
      table.$limit.sink { [tally, unowned table] limit in
        tally.add(table.entries.filter { $0.amount < limit }.count)
      })
  }
}

private func filledPublished() -> PublishedView {
  let view = PublishedView()
  view.fill()
  return view
}

func fillingPublished() -> Workload {
  nonisolated(unsafe) var view = PublishedView()
  return Workload(limit: 1) { _ in
    view = PublishedView()
  } run: { _ in
    view.fill()
  }
}

func editingPublished() -> Workload {
  let view = filledPublished()
  return Workload { count in
    for index in 0..<count {
      for entry in view.table.entries { entry.amount = index }
    }
  }
}

func sortingPublished() -> Workload {
  let view = filledPublished()
  return Workload { count in
    for index in 0..<count {
      if index.isMultiple(of: 2) {
        view.table.entries.sort { $0.amount < $1.amount }
      } else {
        view.table.entries.sort { $0.number < $1.number }
      }
    }
  }
}

func filteringPublished() -> Workload {
  let view = filledPublished()
  view.filter()
  return Workload { count in
    for index in 0..<count { view.table.limit = tableLimits[index & 1] }
    withExtendedLifetime(view) {}
  }
}
