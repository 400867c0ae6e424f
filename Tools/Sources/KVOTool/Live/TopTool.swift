// kvo top: what happens in a running program, live.
import ArgumentParser
import Foundation

package struct TopTool: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Shows live what is observed and notified in a running program.",
    discussion: """
      In a terminal it shows a screen until q or Ctrl-C, otherwise a block of text for each interval. Times of observers \
      include the observers that they cause to be notified.
      """)

  package enum Order: String, ExpressibleByArgument, CaseIterable {
    case time, notifications, longest, name
  }

  @Argument(help: RunningProgram.help)
  var program: RunningProgram

  @Option(help: "Seconds between two looks.")
  var interval = 1.0

  @Option(help: "What to show first: time, notifications, longest or name.")
  var sort = Order.time

  @Flag(help: "Print one interval and end.")
  var once = false

  @Flag(help: "Print a line of JSON for each interval.")
  var json = false

  package init() {}

  package func validate() throws {
    try program.validate()
    guard interval >= 0.01, interval <= 86400 else {
      throw ValidationError("An interval takes from 0.01 to 86400 seconds.")
    }
  }

  package func run() throws {
    let connection = try program.ask("stats \(Int((interval * 1000).rounded())) \(once ? 2 : 0)")
    guard json || once || isatty(STDOUT_FILENO) == 0 else {
      try Screen.show(connection, top: self)
      return
    }
    var last: Figures?
    var isFirst = true
    while let line = try connection.line(within: interval + 10) {
      let figures = try JSONDecoder().decode(Figures.self, from: line)
      defer { last = figures }
      guard let last else { continue }
      let interval = Interval(of: connection.hello, from: last, to: figures)
      let text = try json ? Columns.json(interval) : TopText.lines(interval, sort: sort).joined(separator: "\n")
      print(isFirst || json ? text : "\n" + text)
      fflush(nil)
      isFirst = false
    }
  }
}

/// The text of an interval, for a screen or a log.
package enum TopText {
  /// Returns the lines; at most `height` of them, of which the tables of observers and keys have a part each if there is room.
  package static func lines(_ interval: Interval, sort: TopTool.Order, height: Int = .max) -> [String] {
    let faults = ["fatal", "error", "warning", "info"].compactMap { severity in
      interval.faults[severity].flatMap { $0 > 0 ? "\($0) \(severity)" : nil }
    }
    let head = [
      "\(Columns.clean(interval.program))  process \(interval.pid)",
      "objects \(interval.objects)  keys \(interval.keys)  observations \(interval.observations)  "
        + "notifications \(Columns.short(interval.notificationsPerSecond))/s  "
        + "changes \(Columns.short(interval.changesPerSecond))/s  "
        + "faults \(faults.isEmpty ? "none" : faults.joined(separator: ", "))",
    ]
    let observers = Self.observers(interval, sort)
    let keys = Self.keys(interval, sort)
    let room = max(4, height == .max ? .max : height - head.count - 2)
    let half = room == .max ? .max : max(2, room / 2)
    let first = min(observers.count, room == .max ? .max : max(half, room - keys.count))
    let lines =
      head + [""] + cut(observers, first, "observers") + [""]
      + cut(keys, room == .max ? .max : max(2, room - first), "keys")
    return Array(lines.prefix(height))
  }

  private static func cut(_ lines: [String], _ most: Int, _ what: String) -> [String] {
    guard lines.count > most else { return lines }
    return lines.prefix(most - 1) + ["… \(lines.count - most + 1) more \(what)"]
  }

  private static func observers(_ interval: Interval, _ sort: TopTool.Order) -> [String] {
    let rows = interval.observers.sorted { a, b in
      let names = ("\(a.class).\(a.keyPath)", "\(b.class).\(b.keyPath)")
      switch sort {
      case .time where a.busy != b.busy: return a.busy > b.busy
      case .notifications where a.notificationsPerSecond != b.notificationsPerSecond:
        return a.notificationsPerSecond > b.notificationsPerSecond
      case .longest where a.longest != b.longest: return a.longest > b.longest
      default: return names.0 != names.1 ? names.0 < names.1 : (a.file ?? "", a.line ?? 0) < (b.file ?? "", b.line ?? 0)
      }
    }
    let cells = rows.map { row in
      [
        Columns.short(row.notificationsPerSecond),
        row.busy > 0 ? Columns.duration(nanoseconds: row.busy * 1e9) : "-",
        row.average > 0 ? Columns.duration(nanoseconds: row.average) : "-",
        Columns.duration(nanoseconds: Double(row.longest)),
        "\(row.class).\(row.keyPath)",
        row.observerClass ?? "-",
        row.file.map { "\($0):\(row.line ?? 0)" } ?? "-",
      ]
    }
    let lines = Columns.lines(
      ["NOTIFIED/s", "TIME/s", "AVERAGE", "LONGEST", "KEY PATH", "OBSERVER", "REGISTERED AT"], cells,
      numbers: [0, 1, 2, 3])
    if rows.isEmpty { return ["No observer has been notified yet."] }
    guard interval.otherNotificationsPerSecond > 0 else { return lines }
    return lines + [
      "\(Columns.short(interval.otherNotificationsPerSecond))/s of more places than are counted one by one"
    ]
  }

  private static func keys(_ interval: Interval, _ sort: TopTool.Order) -> [String] {
    let rows = interval.observedKeys.sorted { a, b in
      if sort != .name, a.changesPerSecond != b.changesPerSecond { return a.changesPerSecond > b.changesPerSecond }
      if sort != .name, a.observations != b.observations { return a.observations > b.observations }
      return (a.class, a.key) < (b.class, b.key)
    }
    if rows.isEmpty { return ["Nothing is observed."] }
    let lines = Columns.lines(
      ["CHANGED/s", "OBJECTS", "OBSERVATIONS", "KEY PATH"],
      rows.map {
        [Columns.short($0.changesPerSecond), "\($0.objects)", "\($0.observations)", "\($0.class).\($0.key)"]
      },
      numbers: [0, 1, 2])
    guard interval.otherChangesPerSecond > 0 else { return lines }
    return lines + ["\(Columns.short(interval.otherChangesPerSecond))/s of more keys than are counted one by one"]
  }
}
