// What a view says about a trace: avalanches, what is set again and again, the busiest observers, the widest changes, faults.

/// What has a slice to show.
protocol HasSlice {
  var slice: Int { get set }
}

/// A row of a list.
struct Finding: Encodable, HasSlice {
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

  init(of trace: Trace, _ picture: Picture, _ lines: SourceLines) {
    circles = picture.circles
    avalanches = Avalanche.all(of: trace, lines)
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

  // MARK: - Lists

  private mutating func findRepeated(_ trace: Trace) {
    struct Key: Hashable { var root: Int, object: String, key: String }
    var sets: [Key: (count: Int, slice: Int, by: [String: Int])] = [:]
    for (index, slice) in trace.slices.enumerated()
    where slice.kind == .change && slice.parent != nil && !slice.isPaused {
      let key = Key(root: slice.root, object: slice.arguments?.object ?? "", key: slice.arguments?.key ?? "")
      let by = trace.setter(of: index).map { Avalanche.kind(trace.slices[$0]) } ?? ""
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
      let outer = trace.slices[worst.key.root].name
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
      let text = Avalanche.kind(slice)
      rows[text, default: Finding(text: text, detail: slice.arguments?.note ?? "", count: 0, time: 0, slice: index)]
        .count += 1
      rows[text]!.time += slice.duration - slice.inner
    }
    observers = Self.first(Array(rows.values))
  }

  private mutating func findWidest(_ trace: Trace) {
    var rows: [String: Finding] = [:]
    for (index, slice) in trace.slices.enumerated() where slice.kind == .change && slice.children > 1 {
      let text = slice.name
      if slice.children <= rows[text]?.count ?? 0 { continue }
      rows[text] = Finding(text: text, detail: "", count: slice.children, time: slice.duration, slice: index)
    }
    widest = Self.first(Array(rows.values))
  }

  private static func first(_ rows: [Finding]) -> [Finding] {
    Array(rows.sorted { ($1.count, $0.text) < ($0.count, $1.text) }.prefix(8))
  }
}
