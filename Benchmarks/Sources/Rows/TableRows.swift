// Rows: a table of 10 000 rows that is filled, sorted and filtered under observation.

import KeyValueObserving

extension Row {
  static var tables: [Row] {
    let (tracked, sinks) = ("@Observable, tracked and re-armed", "OpenCombine @Published, sinks")
    let name = "table of 10 000 rows"
    return [
      Row(
        "\(name), filled one by one, each observed", runs: 7, filling,
        .here(tracked, fillingTracked), .here(sinks, fillingPublished)),
      Row(
        "\(name), one set of each, in order", runs: 7, editing,
        .here(tracked, editingTracked), .here(sinks, editingPublished)),
      Row(
        "\(name), sorted by another column", runs: 7, sorting,
        .here(tracked, sortingTracked), .here(sinks, sortingPublished)),
      Row(
        "\(name), filtered by another limit", runs: 7, filtering,
        .here(tracked, filteringTracked), .here(sinks, filteringPublished)),
    ]
  }
}

let tableSize = 10_000

/// The values of the columns: two random orders, so that a sort by one destroys the order of the other.
let tableColumns: (amounts: [Int], numbers: [Int]) = {
  var generator = SplitMix64(state: 42)
  let ordered = Array(0..<tableSize)
  return (ordered.shuffled(using: &generator), ordered.shuffled(using: &generator))
}()

/// The limits of the filter: it lets half of the rows pass, or a quarter.
let tableLimits = [tableSize / 2, tableSize / 4]

@KeyValueObservable
private final class Entry {
  var amount: Int
  let number: Int

  init(amount: Int, number: Int) { (self.amount, self.number) = (amount, number) }
}

@KeyValueObservable
private final class Table {
  var entries: [Entry] = []
  var limit = 0
  var shown: [Entry] { entries.filter { $0.amount < limit } }
}

/// A view of the table, which reads the number of rows when it changes, and the amount of each row.
private final class View {
  let (table, tally) = (Table(), Tally())
  private var tokens: [NSKeyValueObservation] = []

  init() {
    tokens = [table.observe(\.entries) { [tally] table, _ in tally.add(table.entries.count) }]
    tokens.reserveCapacity(tableSize + 2)
  }

  func fill() {
    for index in 0..<tableSize {
      let entry = Entry(amount: tableColumns.amounts[index], number: tableColumns.numbers[index])
      tokens.append(entry.observe(\.amount, options: [.new]) { [tally] _, change in tally.add(change.newValue!) })
      table.entries.append(entry)
    }
  }

  func filter() {
    tokens.append(
      table.observe(\.shown, options: [.new]) { [tally] _, change in tally.add(change.newValue!.count) })
  }
}

private func filled() -> View {
  let view = View()
  view.fill()
  return view
}

private func filling() -> Workload {
  nonisolated(unsafe) var view = View()
  return Workload(limit: 1) { _ in
    view = View()
  } run: { _ in
    view.fill()
  }
}

private func editing() -> Workload {
  let view = filled()
  return Workload { count in
    for index in 0..<count {
      for entry in view.table.entries { entry.amount = index }
    }
  }
}

private func sorting() -> Workload {
  let view = filled()
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

private func filtering() -> Workload {
  let view = filled()
  view.filter()
  return Workload { count in
    for index in 0..<count { view.table.limit = tableLimits[index & 1] }
    withExtendedLifetime(view) {}
  }
}
