// What a view says about a trace: avalanches and their causes, what is set again and again, the busiest observers, the widest changes.
import Foundation

/// Outermost sets that cause many notifications, with the steps from the set to them.
struct Avalanche: Encodable {
  struct Step: Encodable {
    /// Such as `set Invoice.total` or `Line (Invoice.swift:18) is notified`.
    var text: String
    var count: Int
    /// How many there are for each one of the step before; marked if it multiplies.
    var factor: Double
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
  /// The way with the most notifications.
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
      let (steps, again) = Self.steps(trace, children, from: most)
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
  /// then its text is the second result.
  private static func steps(_ trace: Trace, _ children: [Int: [Int]], from root: Int) -> (
    steps: [Avalanche.Step], again: String?
  ) {
    var level = [root]
    var steps = [Avalanche.Step(text: kind(trace.slices[root]), count: 1, factor: 1, slice: root)]
    while steps.count < 24 {
      let inside = Dictionary(grouping: level.flatMap { children[$0] ?? [] }) { kind(trace.slices[$0]) }
      func weight(_ of: [Int]) -> Int { of.reduce(0) { $0 + trace.slices[$1].notifications } }
      guard let next = inside.max(by: { (weight($0.value), $1.key) < (weight($1.value), $0.key) }),
        weight(next.value) > 0
      else { break }
      if steps.contains(where: { $0.text == next.key }) { return (steps, next.key) }
      steps.append(
        Avalanche.Step(
          text: next.key, count: next.value.count, factor: Double(next.value.count) / Double(level.count),
          slice: next.value[0]))
      level = next.value
    }
    return (steps, nil)
  }

  /// Names the steps that multiply, and says if they lead to one of them again.
  private static func cause(_ steps: [Avalanche.Step], _ again: String?) -> String? {
    let circle = again.map { "The last step leads to “\($0)” again, and so on." }
    let multiplying = steps.indices.filter { steps[$0].factor >= 2 }
    guard !multiplying.isEmpty else {
      return circle ?? (steps.count > 12 ? "This is a long chain: each notification causes one more set." : nil)
    }
    let parts = multiplying.prefix(3).map { index in
      let times =
        steps[index].factor == steps[index].factor.rounded()
        ? String(Int(steps[index].factor)) : String(format: "%.1f", steps[index].factor)
      let what = steps[index].text.hasPrefix("set ") ? "makes \(times) of" : "notifies \(times):"
      return "each “\(steps[max(0, index - 1)].text)” \(what) “\(steps[index].text)”"
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
          detail: (by.isEmpty ? "" : "by: " + by) + (others > 0 ? "; the same with \(others) other objects" : ""),
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
