// Avalanches of a trace: the outermost sets that cause many notifications, the steps to these, and what multiplies.
import Foundation

/// Outermost sets that cause many notifications, with the steps from the set to them.
struct Avalanche: Encodable, HasSlice {
  struct Step: Encodable, HasSlice {
    /// Such as `set Invoice.total` or `Line (Invoice.swift:18) is notified of price`.
    var text: String
    /// One slice of this kind, to show.
    var slice: Int
    var count = 0
    /// What each one of the step causes: such as `notifies 2 observers` or `makes 3 sets`. Those beside the way count, too.
    var fan = ""
    /// Each one of the step causes so many, on average.
    var factor = 0.0
    /// It causes more than one. It is marked.
    var multiplies = false
  }

  /// Notifications of one kind that no step has.
  struct Branch: Encodable, HasSlice {
    var text: String
    var count: Int
    var slice: Int
  }

  /// A property that is set several times in one object, or in each of several.
  struct Repeated: Encodable, HasSlice {
    /// Such as `Invoice.total`.
    var property: String
    /// The observer that makes most of these sets, or an empty text.
    var by: String
    var objects = 0
    var sets = 0
    /// The notifications that these sets cause, and those if each object was set once: exactly so many, or at most.
    var notifications = 0
    var once = 0
    var isExact = true
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
  /// The slice of the one that caused the most. All that follows is about this one.
  var slice: Int
  /// The way with the most notifications. If it is a circle, the steps in it have the numbers of all rounds.
  var steps: [Step] = []
  /// The way is longer than these steps.
  var isCut = false
  /// The sentence that says what multiplies.
  var cause: String?
  /// What is set again and again, that which would save the most first.
  var repeated: [Repeated] = []
  /// The other notifications, by kind.
  var others: [Branch] = []

  /// An outermost set that causes fewer notifications is no avalanche.
  static let least = 20
  private static let mostSteps = 24

  /// The largest avalanches of a trace.
  static func all(of trace: Trace, _ lines: SourceLines) -> [Avalanche] {
    let roots = trace.slices.indices.filter { trace.slices[$0].parent == nil && trace.slices[$0].notifications > 0 }
    let groups = Dictionary(grouping: roots) { index in
      [trace.slices[index].name, trace.slices[index].arguments?.calls?.first ?? ""]
    }
    var all = groups.values.map { indices in
      let most = indices.max { trace.slices[$0].notifications < trace.slices[$1].notifications }!
      return Avalanche(
        title: trace.slices[most].name, by: trace.slices[most].arguments?.calls?.first.map(lines.describe),
        sets: indices.count, notifications: indices.reduce(0) { $0 + trace.slices[$1].notifications },
        most: trace.slices[most].notifications, time: indices.reduce(0) { $0 + trace.slices[$1].duration }, slice: most)
    }
    all.removeAll { $0.most < least }
    all.sort { ($1.most, $0.slice) < ($0.most, $1.slice) }
    all = Array(all.prefix(5))
    for index in all.indices { all[index].explain(trace) }
    return all
  }

  /// What slices of one kind have in common.
  static func kind(_ slice: Slice) -> String {
    guard slice.kind == .delivery else { return slice.name }
    let observer = slice.arguments?.observer ?? "closure"
    let place = Picture.place(slice.arguments?.file, slice.arguments?.line).map { " (\($0))" } ?? ""
    return "\(observer)\(place) is notified of \(slice.arguments?.key ?? "")"
  }

  // MARK: - Steps

  private mutating func explain(_ trace: Trace) {
    let tree = trace.slices.indices.filter { trace.slices[$0].root == slice }
    let children = Dictionary(grouping: tree.dropFirst()) { trace.slices[$0].parent! }
    var (levels, again) = follow(trace, children)
    if let again {
      // All rounds, because one may be unlike the others: what was postponed during it is in the first.
      levels[again] = tree.filter { Self.kind(trace.slices[$0]) == steps[again].text }
      for step in steps.indices.dropFirst(again + 1) {
        levels[step] = levels[step - 1].flatMap { children[$0] ?? [] }
          .filter { Self.kind(trace.slices[$0]) == steps[step].text }
      }
    }
    for step in steps.indices { count(step, levels[step], trace, children) }
    cause = describeCause(again)
    findRepeated(trace, tree)
    let onTheWay = Set(levels.joined())
    others = Dictionary(
      grouping: tree.lazy.filter { trace.slices[$0].kind == .delivery && !onTheWay.contains($0) },
      by: { Self.kind(trace.slices[$0]) }
    ).map { Branch(text: $0, count: $1.count, slice: $1[0]) }
      .sorted { ($1.count, $0.text) < ($0.count, $1.text) }
  }

  /// Follows, from the set inwards, the kind of slices with the most notifications, all slices of that kind together, until a kind comes
  /// again: then its number is the second result. The first one has the slices of each step.
  private mutating func follow(_ trace: Trace, _ children: [Int: [Int]]) -> (levels: [[Int]], again: Int?) {
    func weight(_ of: [Int]) -> Int { of.reduce(0) { $0 + trace.slices[$1].notifications } }
    var levels = [[slice]]
    steps = [Step(text: Self.kind(trace.slices[slice]), slice: slice)]
    while true {
      let inside = Dictionary(grouping: levels.last!.flatMap { children[$0] ?? [] }) { Self.kind(trace.slices[$0]) }
      let next = inside.max { (weight($0.value), $1.key) < (weight($1.value), $0.key) }
      guard let next, weight(next.value) > 0 else { return (levels, nil) }
      if let again = steps.firstIndex(where: { $0.text == next.key }) { return (levels, again) }
      if steps.count == Self.mostSteps {
        isCut = true
        return (levels, nil)
      }
      steps.append(Step(text: next.key, slice: next.value[0]))
      levels.append(next.value)
    }
  }

  /// Notes how many slices there are of a step, and how many observers each notifies, or how many sets that are heard each makes.
  private mutating func count(_ step: Int, _ level: [Int], _ trace: Trace, _ children: [Int: [Int]]) {
    let fans = level.map { (children[$0] ?? []).count { trace.slices[$0].notifications > 0 } }
    let (fewest, most) = (fans.min() ?? 0, fans.max() ?? 0)
    let factor = Double(fans.reduce(0, +)) / Double(max(1, fans.count))
    let isSet = trace.slices[steps[step].slice].kind == .change
    let times = fewest == most ? "\(most)" : String(format: "%.1f", factor)
    steps[step].count = level.count
    steps[step].factor = factor
    steps[step].fan =
      "\(isSet ? "notifies" : "makes") \(times) \(isSet ? "observer" : "set")\(times == "1" ? "" : "s")"
      + (fewest == most ? "" : " on average (\(fewest) to \(most))")
    // A little more than one each time is much after many steps.
    steps[step].multiplies = factor >= 1.05
  }

  /// Names the steps that multiply, and says if they lead to one of them again.
  private func describeCause(_ again: Int?) -> String? {
    let circle = again.map { "The last step leads to “\(steps[$0].text)” again, and so on." }
    let multiplying = steps.filter(\.multiplies)
    guard !multiplying.isEmpty else {
      return circle ?? (steps.count > 12 ? "This is a long chain: each notification causes one more set." : nil)
    }
    let parts = multiplying.prefix(3).map { ($0.count > 1 ? "each " : "") + "“\($0.text)” \($0.fan)" }
    let more = multiplying.count - parts.count
    return "It multiplies here: " + parts.joined(separator: "; then ")
      + (more > 0 ? "; then \(more) more step\(more == 1 ? "" : "s")" : "") + "." + (circle.map { " " + $0 } ?? "")
  }

  // MARK: - What is set again and again

  private mutating func findRepeated(_ trace: Trace, _ tree: [Int]) {
    var sets: [String: [String: [Int]]] = [:]  // by property and object
    var ends: [String: Double] = [:]
    var nested: Set<String> = []
    for index in tree.dropFirst() where trace.slices[index].kind == .change && !trace.slices[index].isPaused {
      let each = trace.slices[index]
      // If one set causes another one of the same property, it is not known what would remain.
      if each.start < ends[each.property] ?? -.infinity { nested.insert(each.property) }
      ends[each.property] = max(ends[each.property] ?? each.end, each.end)
      sets[each.property, default: [:]][each.arguments?.object ?? "", default: []].append(index)
    }
    for (property, objects) in sets where !nested.contains(property) {
      let several = objects.values.filter { $0.count > 1 }.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
      guard let first = several.first else { continue }
      let setters = several.joined().reduce(into: [String: Int]()) { counts, index in
        counts[trace.setter(of: index).map { Self.kind(trace.slices[$0]) } ?? "", default: 0] += 1
      }
      var row = Repeated(
        property: property, by: setters.max { ($0.value, $1.key) < ($1.value, $0.key) }!.key, objects: several.count,
        slice: first[0])
      for sets in several {
        let counts = sets.map { trace.slices[$0].notifications }
        row.sets += counts.count
        row.notifications += counts.reduce(0, +)
        row.once += counts.max()!
        if counts.max() != counts.min() { row.isExact = false }
      }
      if row.notifications > row.once { repeated.append(row) }
    }
    repeated.sort { ($1.notifications - $1.once, $0.property) < ($0.notifications - $0.once, $1.property) }
  }
}
