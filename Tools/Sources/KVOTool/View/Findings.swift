// What a view says about a trace: avalanches and their causes, what is set again and again, the busiest observers, the widest changes.
import Foundation

/// Outermost sets that cause many notifications, with the steps from the set to them.
struct Avalanche: Encodable {
  struct Step: Encodable {
    /// Such as `set Invoice.total` or `Line (Invoice.swift:18) is notified`.
    var text: String
    var count: Int
    /// How many there are for each one of the step before, on average, and the fewest and the most.
    var factor: Double
    var least = 1
    var most = 1
    /// It is marked.
    var multiplies = false
    /// One slice of this kind, to show.
    var slice: Int
  }

  var title: String
  /// The code that made the set.
  var by: String?
  /// How many sets of this kind there were, how many notifications they caused, and the most by one.
  var sets: Int
  var notifications: Int
  var most: Int
  var time: Double
  /// The slice of the one that caused the most.
  var slice: Int
  /// The way with the most notifications. If it is a circle, the steps in it have the numbers of all rounds.
  var steps: [Step]
  /// The sentence that says what multiplies.
  var cause: String?
}

/// A row of a list: a text, numbers, and a slice to show.
struct Finding: Encodable {
  var text: String
  var detail: String
  var count: Int
  var time: Double
  var slice: Int
}

struct Findings: Encodable {
  var avalanches: [Avalanche] = []
  /// Properties of one object that are set several times within one outermost set.
  var repeated: [Finding] = []
  var observers: [Finding] = []
  var widest: [Finding] = []
  var faults: [Finding] = []
  var circles: [String] = []

  /// An outermost set that causes fewer notifications is no avalanche.
  static let least = 20

  init(of trace: Trace, _ picture: Picture, _ lines: SourceLines) {
    circles = picture.circles
    findAvalanches(trace, lines)
    findRepeated(trace)
    findObservers(trace)
    findWidest(trace)
    faults = trace.instants.filter { $0.cat == "fault" }.map { fault in
      let slice = trace.slices.lastIndex { $0.thread == fault.tid && $0.start <= fault.ts && $0.end >= fault.ts }
      return Finding(
        text: fault.name ?? "fault", detail: fault.args?.summary ?? "", count: 1, time: fault.ts, slice: slice ?? -1)
    }
  }

  init() {}

  // MARK: - Avalanches

  private mutating func findAvalanches(_ trace: Trace, _ lines: SourceLines) {
    let roots = trace.slices.indices.filter { trace.slices[$0].parent == nil && trace.slices[$0].notifications > 0 }
    let groups = Dictionary(grouping: roots) { index in
      [trace.slices[index].event.name ?? "", trace.slices[index].arguments?.calls?.first ?? ""]
    }
    let children = Dictionary(grouping: trace.slices.indices.lazy.filter { trace.slices[$0].parent != nil }) {
      trace.slices[$0].parent!
    }
    for indices in groups.values {
      let most = indices.max { trace.slices[$0].notifications < trace.slices[$1].notifications }!
      guard trace.slices[most].notifications >= Self.least else { continue }
      var (steps, again) = Self.steps(trace, children, from: most)
      if let again { Self.count(&steps, from: again, trace, children, within: most) }
      avalanches.append(
        Avalanche(
          title: trace.slices[most].event.name ?? "",
          by: trace.slices[most].arguments?.calls?.first.map(lines.describe),
          sets: indices.count, notifications: indices.reduce(0) { $0 + trace.slices[$1].notifications },
          most: trace.slices[most].notifications, time: indices.reduce(0) { $0 + trace.slices[$1].duration },
          slice: most,
          steps: steps, cause: Self.cause(steps, again)))
    }
    avalanches.sort { ($1.most, $0.slice) < ($0.most, $1.slice) }
    avalanches = Array(avalanches.prefix(5))
  }

  /// What slices of one kind have in common.
  private static func kind(_ slice: Slice) -> String {
    guard slice.kind == .delivery else { return slice.event.name ?? "" }
    let observer = slice.arguments?.observer ?? "closure"
    let place = Picture.place(slice.arguments?.file, slice.arguments?.line).map { " (\($0))" } ?? ""
    return "\(observer)\(place) is notified of \(slice.arguments?.key ?? "")"
  }

  /// Follows, from a set inwards, the kind of slices with the most notifications, all slices of that kind together, until a kind comes again:
  /// then its number is the second result.
  private static func steps(_ trace: Trace, _ children: [Int: [Int]], from root: Int) -> (
    steps: [Avalanche.Step], again: Int?
  ) {
    var level = [root]
    var steps = [Avalanche.Step(text: kind(trace.slices[root]), count: 1, factor: 1, slice: root)]
    while steps.count < 24 {
      let inside = Dictionary(grouping: level.flatMap { children[$0] ?? [] }) { kind(trace.slices[$0]) }
      func weight(_ of: [Int]) -> Int { of.reduce(0) { $0 + trace.slices[$1].notifications } }
      guard let next = inside.max(by: { (weight($0.value), $1.key) < (weight($1.value), $0.key) }),
        weight(next.value) > 0
      else { break }
      if let again = steps.firstIndex(where: { $0.text == next.key }) { return (steps, again) }
      steps.append(Avalanche.Step(text: next.key, count: 0, factor: 0, slice: next.value[0]))
      let fans = Dictionary(grouping: next.value) { trace.slices[$0].parent! }
      count(&steps[steps.count - 1], level.map { fans[$0]?.count ?? 0 }, least: 2)
      level = next.value
    }
    return (steps, nil)
  }

  /// Notes how many slices there are for each one of the step before; with at least this many on average it multiplies.
  private static func count(_ step: inout Avalanche.Step, _ fans: [Int], least: Double) {
    step.count = fans.reduce(0, +)
    step.factor = Double(step.count) / Double(max(1, fans.count))
    (step.least, step.most) = (fans.min() ?? 0, fans.max() ?? 0)
    step.multiplies = step.factor >= least
  }

  /// Counts all rounds of a circle, because one of them may be unlike the others: what was postponed during it is in the first.
  private static func count(
    _ steps: inout [Avalanche.Step], from first: Int, _ trace: Trace, _ children: [Int: [Int]], within root: Int
  ) {
    let kinds = trace.slices.indices.filter { trace.slices[$0].root == root }
      .reduce(into: [String: [Int]]()) { $0[kind(trace.slices[$1]), default: []].append($1) }
    steps[first].count = kinds[steps[first].text]?.count ?? 0
    for step in steps.indices.dropFirst(first + 1) {
      let fans = (kinds[steps[step - 1].text] ?? []).map { slice in
        (children[slice] ?? []).count { kind(trace.slices[$0]) == steps[step].text }
      }
      // In a circle a little more than one each time is much in the end.
      count(&steps[step], fans, least: 1.05)
    }
  }

  /// Names the steps that multiply, and says if they lead to one of them again.
  private static func cause(_ steps: [Avalanche.Step], _ again: Int?) -> String? {
    let circle = again.map { "The last step leads to “\(steps[$0].text)” again, and so on." }
    let multiplying = steps.indices.filter { steps[$0].multiplies }
    guard !multiplying.isEmpty else {
      return circle ?? (steps.count > 12 ? "This is a long chain: each notification causes one more set." : nil)
    }
    let parts = multiplying.prefix(3).map { index in
      let step = steps[index]
      let times =
        step.least == step.most
        ? "\(step.most)" : String(format: "%.1f", step.factor) + " on average (\(step.least) to \(step.most))"
      let what = step.text.hasPrefix("set ") ? "makes \(times) of" : "notifies \(times):"
      return "each “\(steps[max(0, index - 1)].text)” \(what) “\(step.text)”"
    }
    return "It multiplies here: " + parts.joined(separator: "; then ") + "." + (circle.map { " " + $0 } ?? "")
  }

  // MARK: - Lists

  private mutating func findRepeated(_ trace: Trace) {
    struct Key: Hashable { var root: Int, object: String, key: String }
    var sets: [Key: (count: Int, slice: Int, by: [String: Int])] = [:]
    for (index, slice) in trace.slices.enumerated() where slice.kind == .change && slice.parent != nil {
      let key = Key(root: slice.root, object: slice.arguments?.object ?? "", key: slice.arguments?.key ?? "")
      let parent = trace.slices[slice.parent!]
      let by = parent.kind == .delivery ? Self.kind(parent) : ""
      sets[key, default: (0, index, [:])].count += 1
      sets[key]!.by[by, default: 0] += 1
    }
    // The worst of each property, because many objects of a class may have the same fate.
    let all = sets.filter { $0.value.count > 1 }.map { key, value in
      (property: Address(key.object).className + "." + key.key, key: key, value: value)
    }
    for (property, group) in Dictionary(grouping: all, by: \.property) {
      let worst = group.max { ($0.value.count, $1.value.slice) < ($1.value.count, $0.value.slice) }!
      let by = worst.value.by.max { ($0.value, $1.key) < ($1.value, $0.key) }!.key
      let outer = trace.slices[worst.key.root].event.name ?? ""
      let others = Set(group.map(\.key.object)).count - 1
      repeated.append(
        Finding(
          text: "\(property) of one object, within one “\(outer)”",
          detail: (by.isEmpty ? "" : "by: " + by)
            + (others > 0 ? "; the same with \(others) other object\(others == 1 ? "" : "s")" : ""),
          count: worst.value.count, time: trace.slices[worst.key.root].duration, slice: worst.value.slice))
    }
    repeated = Self.first(repeated)
  }

  private mutating func findObservers(_ trace: Trace) {
    var rows: [String: Finding] = [:]
    for (index, slice) in trace.slices.enumerated() where slice.kind == .delivery {
      let text = Self.kind(slice)
      rows[text, default: Finding(text: text, detail: slice.arguments?.note ?? "", count: 0, time: 0, slice: index)]
        .count += 1
      rows[text]!.time += slice.duration - slice.inner
    }
    observers = Self.first(Array(rows.values))
  }

  private mutating func findWidest(_ trace: Trace) {
    var rows: [String: Finding] = [:]
    for (index, slice) in trace.slices.enumerated() where slice.kind == .change && slice.children > 1 {
      let text = slice.event.name ?? ""
      if slice.children <= rows[text]?.count ?? 0 { continue }
      rows[text] = Finding(text: text, detail: "", count: slice.children, time: slice.duration, slice: index)
    }
    widest = Self.first(Array(rows.values))
  }

  private static func first(_ rows: [Finding]) -> [Finding] {
    Array(rows.sorted { ($1.count, $0.text) < ($0.count, $1.text) }.prefix(8))
  }
}
